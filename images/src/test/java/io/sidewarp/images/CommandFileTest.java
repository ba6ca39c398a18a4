// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandFileTest {
    @TempDir
    private Path directory;

    /** A program that prints its arguments. */
    static final class Echo {
        private Echo() {}

        public static void main(String[] arguments) {
            System.out.println(String.join(",", arguments));
        }
    }

    @Test
    void isStartedAsTheKernelWouldWithOptionsAndArguments() throws IOException, InterruptedException {
        Path file = directory.resolve("echo");
        Path options = directory.resolve("options");
        Files.write(options, List.of("-Xmx16m", "-XX:+UseSerialGC", "-jar"));
        String classes = Path.of(Echo.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath())
                + "/";

        CommandFile.write(file, options.toString(), Echo.class.getName(), List.of(classes));

        assertThat(firstLine(file)).isEqualTo("#!/opt/java/bin/java @" + options);
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "@" + options,
                        file.toString(),
                        "show",
                        "-h")
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(output.strip()).isEqualTo("show,-h");
        assertThat(process.waitFor()).isZero();
    }

    private static String firstLine(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1)
                .lines()
                .findFirst()
                .orElseThrow();
    }
}
