// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.process.Build;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.Program;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.PartResult.Figures;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Series;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TurnsTest {

    private static final TransferPlan WRITE = TransferPlan.stream(Operation.WRITE, 4096, 8);
    private static final TransferPlan READ = TransferPlan.stream(Operation.READ, 4096, 8);

    private final List<String> order = new ArrayList<>();
    private final List<String> progress = new ArrayList<>();
    private final Recorder recorder = new Recorder();
    private final Lab lab = new Lab(
            Build.own(Path.of(".")),
            Optional.empty(),
            Place.ANYWHERE,
            Place.ANYWHERE,
            Path.of("."),
            Duration.ofMillis(10),
            true,
            "",
            recorder,
            progress::add);

    /** Has more throughput each time. */
    private final class Counting implements Program {

        private final String name;
        private double figure;

        Counting(String name, double figure) {
            this.name = name;
            this.figure = figure;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public Map<Metric, Double> measure(TransferPlan plan, Duration warmup, Duration time) {
            order.add(name + " " + plan.operation());
            return Map.of(Metric.GIGABITS_PER_SECOND, figure++);
        }
    }

    @Test
    void programsAlternate() {
        new Turns("group")
                .beside(new Counting("peer", 1), WRITE)
                .with(new Counting("engine", 10), List.of(WRITE, READ))
                .measure(lab, 2);

        assertThat(order)
                .containsExactly(
                        "peer write", "engine write", "engine read", "peer write", "engine write", "engine read");
        assertThat(recorder.figures()).extracting(Figures::group).containsOnly("group");
        assertThat(recorder.figures()).extracting(Figures::reference).containsExactly(true, false, false);
        assertThat(recorder.figures().getFirst().values())
                .isEqualTo(Map.of(Metric.GIGABITS_PER_SECOND, new Series(List.of(1.0, 2.0))));
        assertThat(recorder.figures().getLast().values())
                .isEqualTo(Map.of(Metric.GIGABITS_PER_SECOND, new Series(List.of(11.0, 13.0))));
        assertThat(progress).hasSize(6).contains("peer write 4 KiB, depth 8, signal 1, adaptive: 1.00 Gbit/s");
    }
}
