// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TruncationTest {

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({
        // Optimised, compiled without optimisation, interpreted.
        "-XX:+TieredCompilation, 200000",
        "-XX:TieredStopAtLevel=1, 20000",
        "-Xint, 500"
    })
    void aTruncatedFileFaultsTheCopyThatMeetsItAndTheProcessLivesOn(String flag, int warmUp) throws Exception {
        Path output = directory.resolve("output");
        Path volume = Files.createDirectory(directory.resolve("volume"));
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        flag,
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:-CreateCoredumpOnCrash",
                        "-XX:ErrorFile=" + directory.resolve("crash.log"),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        TruncationProgram.class.getName(),
                        volume.toString(),
                        Integer.toString(warmUp)))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(240, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }

        assertThat(Files.readString(output, StandardCharsets.UTF_8)).isEqualTo("done 92\n");
        assertThat(process.exitValue()).isZero();
    }
}
