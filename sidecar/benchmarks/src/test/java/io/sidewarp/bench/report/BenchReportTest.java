// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.result.BenchResults;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Part;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.RunFacts;
import io.sidewarp.bench.result.Subject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchReportTest {

    private static final RunFacts FACTS = new RunFacts(
            "2026-01-01T00:00:00Z", "abcdef", "fedcba", "Linux 6.1", "CPU", 2, 1024, "JDK", "0:1", 3, 400, 1.5);
    private static final TransferPlan WRITE = TransferPlan.stream(Operation.WRITE, 1 << 20, 8);
    private static final Subject ENGINE = Subject.of("engine", WRITE);
    private static final Subject IPERF = Subject.of(
            "iperf3 -l 128K", TransferPlan.stream(Operation.SEND, 128 << 10, 1).withWaiting(Waiting.SLEEP));

    @TempDir
    private Path directory;

    private final Recorder recorder = new Recorder();

    private void add(String group, boolean reference, Subject subject, Metric metric, double... samples) {
        for (double sample : samples) {
            recorder.add(group, reference, subject, Map.of(metric, sample));
        }
    }

    private BenchResults results(Part part) {
        return BenchResults.empty().with(part, new PartResult(FACTS, recorder.figures()));
    }

    @Test
    void aRowHasMedianSpreadAndTheRatioOfEachTurn() {
        add("1 MiB", true, IPERF, Metric.GIGABITS_PER_SECOND, 10, 20, 30);
        add("1 MiB", false, ENGINE, Metric.GIGABITS_PER_SECOND, 20, 30, 30);
        add("1 MiB", false, ENGINE, Metric.ACTIVE_CPU_SECONDS_PER_GIB, 0.25);

        assertThat(BenchReport.text(results(Part.STREAMS))).isEqualTo("""
                ## STREAMS

                | by turns | subject | Gbit/s | of iperf3 -l 128K | CPU s/GiB, asking end |
                |---|---|--:|--:|--:|
                | 1 MiB | iperf3 -l 128K send 128 KiB, sleep | 20.0 (10.0–30.0) |  |  |
                | 1 MiB | engine write 1 MiB, depth 8, signal 1, adaptive | 30.0 (20.0–30.0) | 1.50 (1.00–2.00) | 0.250 |

                Commit abcdef, before: fedcba, Linux 6.1, 2 processors (CPU), JDK, processors of the ends 0:1,\
                 3 repetitions of 400 ms, other programs took 2 % of the processors.

                """);
    }

    @Test
    void groupsWithTheSameColumnsShareATable() {
        add("a", true, IPERF, Metric.GIGABITS_PER_SECOND, 10);
        add("a", false, ENGINE, Metric.GIGABITS_PER_SECOND, 20);
        add("latency", false, ENGINE, Metric.P50_MICROSECONDS, 7);
        add("b", true, IPERF, Metric.GIGABITS_PER_SECOND, 40);
        add("b", false, ENGINE, Metric.GIGABITS_PER_SECOND, 20);

        String text = BenchReport.text(results(Part.STREAMS));

        assertThat(text.lines().filter(line -> line.startsWith("| by turns"))).hasSize(2);
        assertThat(text)
                .contains(
                        "| a | engine write 1 MiB, depth 8, signal 1, adaptive | 20.0 | 2.00 |",
                        "| b | engine write 1 MiB, depth 8, signal 1, adaptive | 20.0 | 0.500 |",
                        "| latency | engine write 1 MiB, depth 8, signal 1, adaptive | 7.00 |");
    }

    @Test
    void summaryHasAColumnForEachMeasuredProgram() throws Exception {
        Subject write = Subject.of("engine", TransferPlan.stream(Operation.WRITE, 64 << 10, 16));
        Subject read = Subject.of("engine", TransferPlan.stream(Operation.READ, 64 << 10, 16));
        Subject peer = Subject.of("grpc-java", TransferPlan.stream(Operation.SEND, 64 << 10, 1));
        add("64 KiB", true, peer, Metric.GIGABITS_PER_SECOND, 15);
        add("64 KiB", false, write, Metric.GIGABITS_PER_SECOND, 20);
        add("64 KiB", false, read, Metric.GIGABITS_PER_SECOND, 30);
        BenchResults streams = results(Part.STREAMS);
        Subject grpc = Subject.of("application gRPC", TransferPlan.stream(Operation.READ, 64 << 10, 16));
        add("read 64 KiB, depth 16", false, grpc, Metric.GIGABITS_PER_SECOND, 7);
        Path document = Files.writeString(directory.resolve("performance.md"), """
                before
                <!-- begin: bench summary -->
                old
                <!-- end: bench summary -->
                after
                """);

        BenchReport.write(streams.with(Part.APPLICATION, new PartResult(FACTS, recorder.figures())), document);

        String facts = "Commit abcdef, before: fedcba, Linux 6.1, 2 processors (CPU), JDK, processors of the ends 0:1,"
                + " 3 repetitions of 400 ms, other programs took 2 % of the processors.";
        assertThat(document).hasContent("""
                before
                <!-- begin: bench summary -->
                | medians | application, gRPC queue | engine | grpc-java |
                |---|--:|--:|--:|
                | Write of 64 KiB, Gbit/s |  | 20.0 | 15.0 |
                | Read of 64 KiB, Gbit/s | 7.00 | 30.0 | 15.0 |

                - STREAMS: %1$s
                - APPLICATION: %1$s
                <!-- end: bench summary -->
                after
                """.formatted(facts));
    }

    @Test
    void gnuplotGetsOneLineForEachFigure() {
        add("1 MiB", false, ENGINE, Metric.GIGABITS_PER_SECOND, 20, 10, 40);
        add("1 MiB", false, Subject.of("engine", WRITE.withCrc(false)), Metric.GIGABITS_PER_SECOND, 50);

        assertThat(Plots.lines(new PartResult(FACTS, recorder.figures()))).isEqualTo("""
                engine write, adaptive\tgigabits_per_second\t1048576\t8\t20.0\t10.0\t40.0
                \tgigabits_per_second\t1048576\t8\t50.0\t50.0\t50.0
                """);
    }
}
