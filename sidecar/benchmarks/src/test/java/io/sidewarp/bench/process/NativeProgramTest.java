// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the relay, and, with a script in its place, a program that crashes. */
class NativeProgramTest {

    private static final Duration TIME = Duration.ofMillis(200);
    private static final TransferPlan STREAM = TransferPlan.stream(Operation.SEND, 65536, 1);

    @TempDir
    private Path directory;

    private final List<String> progress = new ArrayList<>();

    @ParameterizedTest
    @EnumSource(names = {"WRITE", "READ"})
    void relayMeasuresLatencyAndRate(Operation operation) {
        NativeProgram relay =
                NativeProgram.relay(Path.of("../.."), directory, Place.on("0"), Place.on("0"), progress::add);

        Map<Metric, Double> latency =
                relay.measure(TransferPlan.pingPong(operation, 8, Waiting.ADAPTIVE), Duration.ZERO, TIME);
        assertThat(latency.get(Metric.P50_MICROSECONDS)).isPositive();
        assertThat(latency.get(Metric.P99_MICROSECONDS)).isGreaterThanOrEqualTo(latency.get(Metric.P50_MICROSECONDS));
        Map<Metric, Double> rate = relay.measure(TransferPlan.stream(operation, 64, 128), Duration.ZERO, TIME);
        assertThat(rate.get(Metric.MESSAGES_PER_SECOND)).isPositive();
    }

    @Test
    void relayTakesOneProcessorForEachEnd() {
        assertThat(Place.on("0").isOneProcessor()).isTrue();
        assertThat(Place.on("0-1").isOneProcessor()).isFalse();
        assertThat(Place.ANYWHERE.isOneProcessor()).isFalse();
    }

    @Test
    void measuresAgainAfterACrashAndSaysSo() throws IOException {
        NativeProgram program = crashing(2);

        assertThat(program.measure(STREAM, Duration.ZERO, TIME)).isEqualTo(Map.of(Metric.GIGABITS_PER_SECOND, 3.5));
        assertThat(runs()).isEqualTo(3);
        assertThat(progress).hasSize(2).allMatch(line -> line.endsWith("; it runs again"));
        assertThat(progress.getFirst()).contains("run 1 of at most 3");
        assertThat(progress.getLast()).contains("run 2 of at most 3");
    }

    @Test
    void smallMessagesHaveARate() throws IOException {
        assertThat(crashing(0).measure(TransferPlan.stream(Operation.SEND, 64, 1), Duration.ZERO, TIME))
                .isEqualTo(Map.of(Metric.MESSAGES_PER_SECOND, 3.5e9 / 8 / 64));
    }

    @Test
    void givesUpBehindTheThirdCrash() throws IOException {
        NativeProgram program = crashing(3);

        assertThatThrownBy(() -> program.measure(STREAM, Duration.ZERO, TIME))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("crashing");
        assertThat(runs()).isEqualTo(3);
        assertThat(progress).hasSize(2);
    }

    /** Returns a program that fails so many times, and measures 3.5 Gbit/s then. */
    private NativeProgram crashing(int times) throws IOException {
        Path program = directory.resolve("crashing");
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
        return new NativeProgram("crashing", program, (plan, time) -> List.of(), progress::add);
    }

    private int runs() throws IOException {
        return Files.readAllLines(log()).size();
    }

    private Path log() {
        return directory.resolve("runs.log");
    }
}
