// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalTargetTest {

    @TempDir
    private Path directory;

    @Test
    void aFileThatIsNotCommittedChangesNothing() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "before");

        write(file, false);

        assertThat(file).hasContent("before");
        assertThat(directory).isDirectoryNotContaining(path -> !path.equals(file));
    }

    @Test
    void aFileBehindALinkIsReplacedAndTheLinkStays() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "before");
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);

        write(link, true);

        assertThat(link).isSymbolicLink();
        assertThat(file).hasContent("new");
    }

    @Test
    void aFileTakesThePlaceOfNothingButAFile() throws IOException {
        Path socket = directory.resolve("socket");
        try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.bind(UnixDomainSocketAddress.of(socket));

            assertThatExceptionOfType(Failure.class)
                    .isThrownBy(() -> new LocalTarget(socket))
                    .withMessageContaining("is not a regular file")
                    .satisfies(failure -> assertThat(failure.exitCode()).isEqualTo(ExitCode.CANNOT_CREATE));
        }
        assertThatExceptionOfType(Failure.class)
                .isThrownBy(() -> new LocalTarget(directory))
                .withMessageContaining("is a directory");
    }

    @Test
    void whatAKilledCommandLeftBehindIsInNobodysWay() throws IOException {
        Path file = directory.resolve("file");
        // Programs in different containers can have the same process ID.
        Files.writeString(
                directory.resolve(".file.sidewarp-" + ProcessHandle.current().pid()), "half of it");

        write(file, true);

        assertThat(file).hasContent("new");
    }

    @Test
    void twoAtATimeDoNotMeet() throws IOException {
        Path file = directory.resolve("file");
        try (FileTarget first = new LocalTarget(file)) {
            write(file, true);

            first.commit();
        }
        assertThat(file).isEmptyFile();
    }

    @Test
    void aNameMayBeAsLongAsTheFileSystemTakes() throws IOException {
        Path file = directory.resolve("ü".repeat(127) + "x");

        write(file, true);

        assertThat(file).hasContent("new");
    }

    @Test
    void whyAFileCannotBeCreatedIsTold() {
        assertThatExceptionOfType(Failure.class)
                .isThrownBy(() -> new LocalTarget(directory.resolve("x".repeat(256))))
                .withMessageContaining("File name too long")
                .satisfies(failure -> assertThat(failure.exitCode()).isEqualTo(ExitCode.CANNOT_CREATE));
        assertThatExceptionOfType(Failure.class)
                .isThrownBy(() -> new LocalTarget(directory.resolve("none/file")))
                .withMessageContaining("no such file or directory");
    }

    private static void write(Path file, boolean commit) throws IOException {
        try (FileTarget target = new LocalTarget(file)) {
            target.channel().write(ByteBuffer.wrap("new".getBytes(StandardCharsets.UTF_8)));
            if (commit) {
                target.commit();
            }
        }
    }
}
