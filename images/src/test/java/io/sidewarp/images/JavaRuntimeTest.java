// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavaRuntimeTest {

    @TempDir
    private Path directory;

    @Test
    void anArchiveOfClassesIsTheSameWhateverMemoryAndProcessorsTheMachineHas() throws Exception {
        assertThat(Files.mismatch(archive("4g", 1), archive("256g", 4))).isEqualTo(-1);
    }

    private Path archive(String memory, int processors) {
        Path file = directory.resolve(memory + ".jsa");
        List<String> command = new ArrayList<>(List.of(
                JavaRuntime.java(Path.of(System.getProperty("java.home"))),
                "-XX:MaxRAM=" + memory,
                "-XX:ActiveProcessorCount=" + processors,
                "-XX:SharedArchiveFile=" + file));
        command.addAll(JavaRuntime.ARCHIVE_FLAGS);
        JavaProgram.run(command, directory, "cannot archive");
        return file;
    }
}
