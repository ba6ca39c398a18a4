// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.cli.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerbsInstallerTest {
    @TempDir
    private Path directory;

    private Path source;
    private Path target;
    private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

    @BeforeEach
    void createDirectories() throws IOException {
        source = Files.createDirectory(directory.resolve("image"));
        target = Files.createDirectory(directory.resolve("volume"));
    }

    private int install(Path to) {
        return VerbsInstaller.install(source, to, new PrintStream(errors, true, StandardCharsets.UTF_8));
    }

    private void write(String name, String content) throws IOException {
        Path file = Files.writeString(source.resolve(name), content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void bothNamesAreLinksToOneFileThatAllMayRead() throws IOException {
        write("libsidewarp-verbs.so", "code");

        assertThat(install(target)).isEqualTo(ExitCode.OK);

        Path library = target.resolve("libsidewarp-verbs.so");
        assertThat(library).hasContent("code");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(library)))
                .isEqualTo("rwxr-xr-x");
        assertThat(target.resolve("libibverbs.so.1").toRealPath()).isEqualTo(library.toRealPath());
        assertThat(target.resolve("librdmacm.so.1").toRealPath()).isEqualTo(library.toRealPath());
    }

    @Test
    void aFileOfTheImageReplacesALink() throws IOException {
        write("libsidewarp-verbs.so", "code");
        write("librdmacm.so.1", "other code");

        install(target);

        assertThat(target.resolve("librdmacm.so.1")).isRegularFile().hasContent("other code");
    }

    @Test
    void aSecondRunReplacesTheFile() throws IOException {
        write("libsidewarp-verbs.so", "code");
        install(target);
        write("libsidewarp-verbs.so", "new code");

        assertThat(install(target)).isEqualTo(ExitCode.OK);

        assertThat(target.resolve("librdmacm.so.1")).hasContent("new code");
        try (Stream<Path> files = Files.list(target)) {
            assertThat(files).hasSize(3);
        }
    }

    @Test
    void anImageWithoutTheLibrarySaysWhatToDo() {
        assertThat(install(target)).isEqualTo(ExitCode.CONFIGURATION);

        assertThat(errors.toString(StandardCharsets.UTF_8))
                .contains("this image has no verbs library for " + System.getProperty("os.arch"))
                .contains("remove the annotation sidewarp.io/verbs");
    }

    @Test
    void aMissingVolumeIsNamed() throws IOException {
        write("libsidewarp-verbs.so", "code");

        assertThat(install(directory.resolve("none"))).isEqualTo(ExitCode.IO_ERROR);

        assertThat(errors.toString(StandardCharsets.UTF_8))
                .contains("cannot copy")
                .contains(directory.resolve("none").toString());
    }
}
