// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServedDirectoryTest {

    @TempDir
    private Path temporary;

    private Path root;
    private ServedDirectory served;

    @BeforeEach
    void setUp() throws IOException {
        root = Files.createDirectory(temporary.resolve("root"));
        Files.createDirectory(root.resolve("sub"));
        Files.writeString(root.resolve("sub/file"), "inside");
        Files.writeString(temporary.resolve("outside"), "outside");
        Files.createSymbolicLink(root.resolve("link"), temporary.resolve("outside"));
        Files.createSymbolicLink(root.resolve("linked"), temporary);
        served = ServedDirectory.of(root);
    }

    @Test
    void opensAFileInASubdirectory() throws IOException {
        try (SeekableByteChannel file = served.open(FileName.of("sub/file"))) {
            ByteBuffer content = ByteBuffer.allocate(10);
            file.read(content);
            assertThat(new String(content.array(), 0, content.position(), StandardCharsets.UTF_8))
                    .isEqualTo("inside");
        }
    }

    @Test
    void followsNoSymbolicLink() {
        fails(() -> served.open(FileName.of("link")), ExitCode.NO_INPUT);
        fails(() -> served.open(FileName.of("linked/outside")), ExitCode.NO_INPUT);
        fails(() -> served.create(FileName.of("linked/new"), Permissions.DEFAULT), ExitCode.CANNOT_CREATE);
        assertThat(temporary.resolve("new")).doesNotExist();
    }

    @Test
    void opensRegularFilesOnly() {
        fails(() -> served.open(FileName.of("sub")), ExitCode.NO_INPUT);
        fails(() -> served.open(FileName.of("missing")), ExitCode.NO_INPUT);
        fails(() -> served.open(FileName.of("missing/file")), ExitCode.NO_INPUT);
    }

    @Test
    void showsAFileUnderItsNameWhenItIsCommitted() throws IOException {
        try (FileTarget target = served.create(FileName.of("sub/file"), Permissions.DEFAULT)) {
            target.channel().write(ByteBuffer.wrap("new".getBytes(StandardCharsets.UTF_8)));
            assertThat(root.resolve("sub/file")).hasContent("inside");
            target.commit();
        }
        assertThat(root.resolve("sub/file")).hasContent("new");
        assertThat(filesIn(root.resolve("sub"))).isEqualTo(1);
    }

    @Test
    void leavesNothingOfAFileThatIsNotCommitted() throws IOException {
        try (FileTarget target = served.create(FileName.of("sub/half"), Permissions.DEFAULT)) {
            target.channel().write(ByteBuffer.wrap(new byte[10]));
        }
        assertThat(filesIn(root.resolve("sub"))).isEqualTo(1);
    }

    @Test
    void replacesALinkInsteadOfWhatItLeadsTo() throws IOException {
        try (FileTarget target = served.create(FileName.of("link"), Permissions.DEFAULT)) {
            target.commit();
        }
        assertThat(root.resolve("link")).isRegularFile().hasContent("");
        assertThat(temporary.resolve("outside")).hasContent("outside");
    }

    @Test
    void putsNoFileInThePlaceOfADirectory() {
        fails(() -> served.create(FileName.of("sub"), Permissions.DEFAULT), ExitCode.CANNOT_CREATE);
        assertThat(root).isDirectoryContaining(path -> path.endsWith("sub"));
        assertThat(root.resolve("sub/file")).hasContent("inside");
    }

    @Test
    void putsNoFileIntoADirectoryThatIsMissing() {
        fails(() -> served.create(FileName.of("missing/file"), Permissions.DEFAULT), ExitCode.CANNOT_CREATE);
        fails(() -> served.create(FileName.of("sub/file/file"), Permissions.DEFAULT), ExitCode.CANNOT_CREATE);
    }

    @Test
    void needsADirectory() {
        fails(() -> ServedDirectory.of(root.resolve("sub/file")), ExitCode.NO_INPUT);
    }

    private static long filesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.count();
        }
    }

    private static void fails(ThrowingCallable action, int exitCode) {
        assertThatThrownBy(action)
                .isInstanceOf(Failure.class)
                .extracting(e -> ((Failure) e).exitCode())
                .isEqualTo(exitCode);
    }
}
