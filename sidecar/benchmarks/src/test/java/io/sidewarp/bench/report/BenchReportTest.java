// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.part.ApplicationPart;
import io.sidewarp.bench.part.BesideTests;
import io.sidewarp.bench.part.ConnectionsPart;
import io.sidewarp.bench.part.IdleQueue;
import io.sidewarp.bench.part.LatencyPart;
import io.sidewarp.bench.part.Peers;
import io.sidewarp.bench.part.ProfilePart;
import io.sidewarp.bench.part.Quotas;
import io.sidewarp.bench.part.RatePart;
import io.sidewarp.bench.part.Samples;
import io.sidewarp.bench.part.SidecarPart;
import io.sidewarp.bench.part.SidecarTests;
import io.sidewarp.bench.part.StreamsPart;
import io.sidewarp.bench.part.ThroughputPart.Step;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.result.BenchResults;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Part;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.RunFacts;
import io.sidewarp.bench.result.Subject;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

class BenchReportTest {

    private static final RunFacts FACTS = new RunFacts(
            "2026-01-01T00:00:00Z", "abcdef", "fedcba", "Linux 6.1", "CPU", 2, 1024, "JDK", "0:1", 3, 400, 1.5);
    private static final Step LARGE = new Step(1 << 20, 8);
    private static final Subject WRITE = Samples.engine(LARGE.plan(BenchOperation.WRITE));

    @TempDir
    private Path directory;

    private static void add(Recorder recorder, Subject subject, Metric metric, double... samples) {
        for (double sample : samples) {
            recorder.add(subject, metric, sample);
        }
    }

    private static PartResult part(Recorder recorder) {
        return new PartResult(FACTS, recorder.figures());
    }

    private static BenchResults throughput() {
        Recorder recorder = new Recorder();
        add(recorder, WRITE, Metric.GIGABITS_PER_SECOND, 19, 20, 21);
        add(recorder, Peers.iperf(IperfKind.DEFAULT), Metric.GIGABITS_PER_SECOND, 8);
        add(recorder, Peers.iperf(IperfKind.LARGE), Metric.GIGABITS_PER_SECOND, 16);
        add(recorder, Peers.line(), Metric.P50_MICROSECONDS, 0.07, 0.16, 0.55);
        add(recorder, Peers.grpcStream(LARGE.size()), Metric.GIGABITS_PER_SECOND, 5);
        return BenchResults.empty().with(Part.THROUGHPUT, part(recorder));
    }

    /** Three turns. */
    private static BenchResults streams(double... iperf) {
        Recorder recorder = new Recorder();
        add(recorder, StreamsPart.iperf(IperfKind.LARGE, LARGE), Metric.GIGABITS_PER_SECOND, iperf);
        add(recorder, StreamsPart.limit(LARGE, true), Metric.GIGABITS_PER_SECOND, 20, 40, 30);
        add(recorder, WRITE, Metric.GIGABITS_PER_SECOND, 20, 20, 30);
        add(recorder, WRITE, Metric.ACTIVE_CPU_SECONDS_PER_GIB, 0.3);
        add(recorder, WRITE, Metric.PASSIVE_CPU_SECONDS_PER_GIB, 0.2);
        add(recorder, SidecarTests.stream("write", LARGE), Metric.GIGABITS_PER_SECOND, 10, 20, 15);
        add(recorder, Peers.grpcStream(LARGE.size()), Metric.GIGABITS_PER_SECOND, 10, 20, 10);
        add(recorder, Peers.grpcStream(LARGE.size()), Metric.ACTIVE_CPU_SECONDS_PER_GIB, 2);
        add(recorder, Peers.grpcStream(LARGE.size()), Metric.PASSIVE_CPU_SECONDS_PER_GIB, 2);
        return BenchResults.empty().with(Part.STREAMS, part(recorder));
    }

    private static Target target(BenchResults results, String figure) {
        return new Targets(results)
                .all().stream()
                        .filter(each -> each.figure().startsWith(figure))
                        .findFirst()
                        .orElseThrow();
    }

    @Test
    void aFigureIsMedianAndSpread() {
        assertThat(BenchReport.text(throughput()))
                .contains("| write 1 MiB | 20.0 (19.0–21.0) |")
                .contains("A cache line takes 0.160 (0.070–0.550) us there and back");
    }

    @Test
    void aTargetIsMetByTheRatioToEachIperfTurnByTurn() {
        Target met = target(streams(16, 32, 24), "engine: write 1 MiB, depth 8, of iperf3 -l 1024K");
        assertThat(met.measured()).hasValue(1.25);
        assertThat(met.isMet()).isTrue();

        Target missed = target(streams(40, 10, 60), "engine: write 1 MiB, depth 8, of iperf3 -l 1024K");
        assertThat(missed.measured()).hasValue(0.5);
        assertThat(missed.row()).endsWith("0.500", "no");

        Target like = target(streams(16, 32, 24), "engine: write 1 MiB, depth 8, of iperf3 -l 1024K -C reno");
        assertThat(like.measured()).isEmpty();
    }

    @Test
    void processorTimeOfBothEndsIsComparedWithGrpc() {
        Target target = target(streams(1, 1, 1), "engine: write 1 MiB, CPU per GiB");

        assertThat(target.measured()).hasValue(0.125);
        assertThat(target.isMet()).isTrue();
    }

    @Test
    void oneAmongManyIsComparedTurnByTurn() {
        assertThat(target(everything(), "engine: throughput of one among 10000").measured())
                .hasValue(0.75);
    }

    @Test
    void whatWasNotMeasuredIsNotMet() {
        Target target = target(BenchResults.empty(), "sidecar: MiB resident");

        assertThat(target.isMet()).isFalse();
        assertThat(target.row()).contains("not measured");
    }

    /** Two turns, in which rings have so many times the time of engines and a share of their rate. */
    private static PartResult applications(double factor) {
        Recorder recorder = new Recorder();
        Subject engine = Samples.engine(ApplicationPart.pingPong(BenchOperation.READ, LatencyPart.SIZE));
        Subject read = SidecarTests.pingPong("read", LatencyPart.SIZE);
        add(recorder, engine, Metric.P50_MICROSECONDS, 10, 30);
        add(recorder, read, Metric.P50_MICROSECONDS, 10 * factor, 30 * factor);
        add(recorder.with(ApplicationPart.GRPC), read, Metric.P50_MICROSECONDS, 40, 120);
        add(recorder, ApplicationPart.relayed(read), Metric.P50_MICROSECONDS, 16, 48);
        Subject write = SidecarTests.stream("write", LARGE);
        add(recorder, WRITE, Metric.GIGABITS_PER_SECOND, 20, 40);
        add(recorder, write, Metric.GIGABITS_PER_SECOND, 20 / factor, 40 / factor);
        add(recorder, WRITE, Metric.ACTIVE_CPU_SECONDS_PER_GIB, 0.1);
        add(recorder, WRITE, Metric.PASSIVE_CPU_SECONDS_PER_GIB, 0.1);
        add(recorder, write, Metric.ACTIVE_CPU_SECONDS_PER_GIB, 0.2);
        add(recorder, write, Metric.PASSIVE_CPU_SECONDS_PER_GIB, 0.1);
        Subject beside = BesideTests.beside(BesideTests.STREAMS.getFirst());
        add(recorder, beside, Metric.P99_MICROSECONDS, 100, 200);
        add(recorder.with(ApplicationPart.GRPC), beside, Metric.P99_MICROSECONDS, 200, 400);
        add(recorder, IdleQueue.SUBJECT, Metric.SIDECAR_CPU_PERCENT, 0.2);
        add(recorder, IdleQueue.SUBJECT, Metric.FILES_KIB, 60);
        add(recorder.with(Quotas.FREE), read, Metric.P50_MICROSECONDS, 60);
        add(recorder.under(Quotas.QUOTA), read, Metric.P50_MICROSECONDS, 240);
        add(recorder, Quotas.USE, Metric.THROTTLED_PERCENT, 30);
        return part(recorder);
    }

    @Test
    void ringsAreComparedWithEnginesAndTheGrpcQueueTurnByTurn() {
        BenchResults fast = BenchResults.empty().with(Part.APPLICATION, applications(1.5));
        BenchResults slow = BenchResults.empty().with(Part.APPLICATION, applications(2));

        assertThat(target(fast, "application over rings: p50 of an 8-octet read, of engines")
                        .isMet())
                .isTrue();
        assertThat(target(slow, "application over rings: p50 of an 8-octet read, of engines")
                        .isMet())
                .isFalse();
        assertThat(target(fast, "application over rings: p50 of an 8-octet read, of a relay")
                        .measured())
                .hasValue(0.9375);
        assertThat(target(slow, "application over rings: write 1 MiB").measured())
                .hasValue(0.5);
        assertThat(target(slow, "application over rings: p99 of an 8-octet read")
                        .measured())
                .hasValue(0.5);
        assertThat(target(slow, "application: KiB of files").isMet()).isTrue();
    }

    @Test
    void applicationsHaveTablesOfBothPathsOfIdleQueuesAndOfAQuota() {
        assertThat(BenchReport.text(BenchResults.empty().with(Part.APPLICATION, applications(2))))
                .contains(
                        "| by turns | engine | rings | gRPC | rings / engine | gRPC / engine |",
                        "| read 8 B, p50 us | 20.0 (10.0–30.0) | 40.0 (20.0–60.0) | 80.0 (40.0–120) |"
                                + " 2.00 (2.00–2.00) | 4.00 (4.00–4.00) |",
                        "| read 8 B, p50 us | 32.0 (16.0–48.0) | 1.60 (1.60–1.60) | 1.25 (1.25–1.25) |",
                        "| write 1 MiB, depth 8, Gbit/s | 30.0 (20.0–40.0) | 15.0 (10.0–20.0) |  | 0.500 (0.500–0.500) |  |",
                        "| write 1 MiB, depth 8, CPU s/GiB | 0.200 | 0.300 |  | 1.50 |  |",
                        "| write 64 KiB, depth 16 |  | 150 (100–200) |  |  | 300 (200–400) |  | 0.500 (0.500–0.500) |",
                        "| files, KiB | 60.0 |",
                        "| read 8 B, p50 us | 60.0 | 240 | 4.00 |",
                        "was used up in 30.0 % of the periods");
    }

    @Test
    void aTargetThatWasNotMeasuredKeepsItsRowInTheDocument() throws Exception {
        Path document = Files.writeString(directory.resolve("performance.md"), """
                <!-- begin: bench application -->
                <!-- end: bench application -->
                <!-- begin: bench targets -->
                | figure | target | measured | met |
                |---|--:|--:|--:|
                | sidecar: MiB resident when idle | at most 120 | 103 | yes |
                | application: KiB of files of a queue over rings | at most 64.0 | 99.0 | no |
                <!-- end: bench targets -->
                """);

        BenchReport.write(BenchResults.empty().with(Part.APPLICATION, applications(2)), document);

        assertThat(Files.readString(document))
                .contains(
                        "| sidecar: MiB resident when idle | at most 120 | 103 | yes |",
                        "| application: KiB of files of a queue over rings | at most 64.0 | 60.0 | yes |",
                        "| sidecar: ms from the start of the process until ready | at most 1000 | not measured |  |");
    }

    /** One figure of each part. */
    private static BenchResults everything() {
        Recorder rate = new Recorder();
        add(
                rate,
                Samples.engine(RatePart.plan(BenchOperation.WRITE, 128, Waiting.ADAPTIVE)),
                Metric.MESSAGES_PER_SECOND,
                1e6);
        Recorder latency = new Recorder();
        add(
                latency,
                Samples.engine(TransferPlan.pingPong(BenchOperation.WRITE, LatencyPart.SIZE, Waiting.SPIN)),
                Metric.P50_MICROSECONDS,
                7);
        Recorder moments = new Recorder();
        add(moments, Peers.iperf(IperfKind.LARGE), Metric.GIGABITS_PER_SECOND, 10, 20, 30);
        add(moments, Peers.iperf(IperfKind.LARGE), Metric.NEAR_GIGABITS_PER_SECOND, 30);
        add(moments, WRITE, Metric.GIGABITS_PER_SECOND, 9, 24);
        add(moments, WRITE, Metric.NEAR_GIGABITS_PER_SECOND, 24);
        Recorder connections = new Recorder();
        add(connections, ConnectionsPart.subject(100), Metric.CONNECTIONS_PER_SECOND, 400);
        add(connections, ConnectionsPart.subject(100), Metric.WARM_CONNECTIONS_PER_SECOND, 6000);
        add(connections, ConnectionsPart.subject(100), Metric.ACTIVE_OCTETS_PER_CONNECTION, 5000);
        add(connections, ConnectionsPart.subject(10_000), Metric.GIGABITS_PER_SECOND, 30);
        add(connections, ConnectionsPart.subject(10_000), Metric.ALONE_GIGABITS_PER_SECOND, 40);
        add(connections, ConnectionsPart.subject(10_000), Metric.OF_ONE_ALONE, 0.7, 0.75, 0.8);
        Recorder network = new Recorder();
        add(network, WRITE, Metric.GIGABITS_PER_SECOND, 30);
        add(network, Peers.iperf(IperfKind.LARGE), Metric.GIGABITS_PER_SECOND, 10);
        add(network.with("cubic"), WRITE, Metric.GIGABITS_PER_SECOND, 36);
        add(network.with("cubic"), Peers.iperf(IperfKind.LARGE), Metric.GIGABITS_PER_SECOND, 72);
        Recorder sidecar = new Recorder();
        add(sidecar, SidecarPart.IDLE, Metric.RESIDENT_MIB, 100);
        Recorder comparison = new Recorder();
        add(comparison.before(), WRITE, Metric.GIGABITS_PER_SECOND, 10, 20);
        add(comparison, WRITE, Metric.GIGABITS_PER_SECOND, 30, 30);
        Subject beside = BesideTests.beside(BesideTests.STREAMS.getFirst());
        add(comparison.before(), beside, Metric.P99_MICROSECONDS, 900);
        add(comparison, beside, Metric.P99_MICROSECONDS, 300);
        Recorder profile = new Recorder();
        add(profile, WRITE, Metric.GIGABITS_PER_SECOND, 12);
        add(profile, ProfilePart.activeEnd(LARGE.plan(BenchOperation.WRITE)), Metric.CRC_PERCENT, 9);
        Recorder sctp = new Recorder();
        add(sctp, SidecarTests.stream("read", LARGE), Metric.GIGABITS_PER_SECOND, 6);
        return streams(25, 50, 50)
                .with(Part.THROUGHPUT, throughput().parts().get(Part.THROUGHPUT))
                .with(Part.RATE, part(rate))
                .with(Part.MOMENTS, part(moments))
                .with(Part.LATENCY, part(latency))
                .with(Part.CONNECTIONS, part(connections))
                .with(Part.APPLICATION, applications(2))
                .with(Part.NETWORK, part(network))
                .with(Part.SIDECAR, part(sidecar))
                .with(Part.SCTP, part(sctp))
                .with(Part.COMPARISON, part(comparison))
                .with(Part.PROFILE, part(profile));
    }

    @Test
    void eachPartHasItsTablesInTheDocument() throws Exception {
        StringBuilder template = new StringBuilder();
        for (Part part : Part.values()) {
            template.append("<!-- begin: bench %1$s -->\n<!-- end: bench %1$s -->\n"
                    .formatted(part.name().toLowerCase(Locale.ROOT)));
        }
        template.append("<!-- begin: bench targets -->\n<!-- end: bench targets -->\n");
        Path document = Files.writeString(directory.resolve("performance.md"), template);

        BenchReport.write(everything(), document);

        assertThat(Files.readString(document))
                .contains("| 128 | 1000000 |", "| write | spin | 7.00 |", "| 100 | 400 | 6000 | 5000 |")
                .contains("| 30.0 (30.0–30.0) | 40.0 (40.0–40.0) | 0.750 (0.700–0.800) |")
                .contains(
                        "| engine write 1 MiB | 20.0 (20.0–30.0) |  | 0.600 (0.400–0.800) |  | 2.00 (1.00–3.00) | 0.300 | 0.200 | 0.125 |")
                .contains("| engine write 1 MiB | 20.0 (20.0–30.0) | 1.00 (0.500–1.00) |")
                .contains("| resident when idle, MiB | 100 |", "| read 1 MiB | 8 | 6.00 |")
                .contains("| write 1 MiB | 30.0 | 3.00 |", "| write 1 MiB, cubic | 36.0 | 0.500 |")
                .contains("| iperf3 -l 1024K | 20.0 (10.0–30.0) |  | 30.0 (30.0–30.0) |  |  |  | 1, 0, 3 |")
                .contains(
                        "| engine write 1 MiB, adaptive | 16.5 (9.00–24.0) | 0.825 | 24.0 (24.0–24.0) | 0.800 |  |  | 1, 0, 2 |")
                .contains("| engine write 1 MiB | 15.0 (10.0–20.0) | 30.0 (30.0–30.0) | Gbit/s | 2.25 (1.50–3.00) |")
                .contains(
                        "| application read 8 B beside write 64 KiB, depth 16 | 900 (900–900) | 300 (300–300) | us, p99 |")
                .contains("| write 1 MiB, asking end | 12.0 |  |  |  | 9.00 |  |  |")
                .contains("Commit abcdef, before: fedcba, ");
        assertThat(directory.resolve("plots")).isDirectoryContaining("glob:**/throughput.svg");
    }

    @Test
    void theTimeOfAMeasurementIsToldWhereItIsTheUsers() {
        String text = BenchReport.text(everything());

        assertThat(text).containsSubsequence("## THROUGHPUT", "3 repetitions of 400 ms, other", "## MOMENTS");
        assertThat(text).containsSubsequence("## STREAMS", "3 repetitions, other", "## RATE");
    }

    @Test
    void plotsAreWellFormedAndNameTheirLines() throws Exception {
        BenchReport.write(throughput(), Files.writeString(directory.resolve("a.md"), """
                <!-- begin: bench throughput -->
                <!-- end: bench throughput -->
                <!-- begin: bench targets -->
                <!-- end: bench targets -->
                """));

        String svg = Files.readString(directory.resolve("plots/throughput.svg"));
        Document xml = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
        assertThat(xml.getElementsByTagName("polyline").getLength()).isEqualTo(4);
        assertThat(svg).contains("engine write", "grpc-java", "iperf3 -l 128K").doesNotContain("engine read");
    }

    @Test
    void aChartTakesAValueForEachCategory() {
        LineChart chart = new LineChart("title", "y", "x", List.of("a", "b"));

        assertThatThrownBy(() -> chart.add("line", List.of())).hasMessageContaining("0 values for 2 categories");
    }
}
