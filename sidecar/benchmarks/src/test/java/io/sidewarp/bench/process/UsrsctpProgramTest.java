// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the benchmark with a crashing program: a real process takes its place. */
class UsrsctpProgramTest {

    private static final Duration TIME = Duration.ofSeconds(1);

    @TempDir
    private Path directory;

    private final List<String> progress = new ArrayList<>();

    @Test
    void measuresAgainAfterACrashAndSaysSo() throws IOException {
        UsrsctpProgram usrsctp = crashing(2);

        assertThat(usrsctp.gigabitsPerSecond(65536, true, TIME)).isEqualTo(3.5);
        assertThat(runs()).isEqualTo(3);
        assertThat(progress).hasSize(2);
        assertThat(progress.getFirst()).startsWith("run 1 of 3 failed, and it runs again: ");
        assertThat(progress.getLast()).startsWith("run 2 of 3 failed, and it runs again: ");
    }

    @Test
    void givesUpBehindTheThirdCrash() throws IOException {
        UsrsctpProgram usrsctp = crashing(3);

        assertThatThrownBy(() -> usrsctp.gigabitsPerSecond(65536, true, TIME))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("usrsctp-transfer");
        assertThat(runs()).isEqualTo(3);
        assertThat(progress).hasSize(2);
    }

    /** A program that fails so many times, and measures 3.5 Gbit/s then. */
    private UsrsctpProgram crashing(int times) throws IOException {
        Path program = directory.resolve("usrsctp-transfer");
        Files.writeString(program, """
                #!/bin/sh
                echo run >> %s
                if [ "$(wc -l < %s)" -le %d ]; then
                  echo 'free(): invalid pointer' >&2
                  exit 1
                fi
                echo '{"gigabits_per_second": 3.5}'
                """.formatted(log(), log(), times));
        assertThat(program.toFile().setExecutable(true)).isTrue();
        return new UsrsctpProgram(directory, program, progress::add);
    }

    private int runs() throws IOException {
        return Files.readAllLines(log()).size();
    }

    private Path log() {
        return directory.resolve("runs.log");
    }
}
