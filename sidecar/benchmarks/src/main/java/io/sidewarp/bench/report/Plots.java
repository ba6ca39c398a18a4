// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.part.LatencyPart;
import io.sidewarp.bench.part.Peers;
import io.sidewarp.bench.part.RatePart;
import io.sidewarp.bench.part.Samples;
import io.sidewarp.bench.part.ThroughputPart;
import io.sidewarp.bench.part.ThroughputPart.Step;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.result.BenchResults;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Part;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Series;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.Sizes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Plots of the documentation. */
final class Plots {

    private static final List<Metric> PERCENTILES =
            List.of(Metric.P50_MICROSECONDS, Metric.P99_MICROSECONDS, Metric.P99_9_MICROSECONDS);

    private Plots() {}

    /** Draws the plots of all measured parts. */
    static void write(BenchResults results, Path directory) {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot create " + directory + ": " + e.getMessage(), e);
        }
        draw(results, Part.THROUGHPUT, directory.resolve("throughput.svg"), Plots::throughput);
        draw(results, Part.RATE, directory.resolve("rate.svg"), Plots::rate);
        draw(results, Part.LATENCY, directory.resolve("latency.svg"), Plots::latency);
    }

    private static void draw(BenchResults results, Part part, Path file, Function<PartResult, LineChart> plot) {
        PartResult result = results.parts().get(part);
        if (result != null) {
            Markdown.write(file, plot.apply(result).render());
        }
    }

    static LineChart throughput(PartResult part) {
        List<Step> steps = ThroughputPart.STEPS;
        LineChart chart = new LineChart(
                "Throughput of one connection, CRC on",
                "Gbit/s",
                "octets of a message",
                steps.stream().map(step -> Sizes.format(step.size())).toList());
        for (BenchOperation operation : List.of(BenchOperation.WRITE, BenchOperation.READ)) {
            chart.add("engine " + operation, bySize(part, step -> Samples.engine(step.plan(operation))));
        }
        chart.add("bare TCP", bySize(part, step -> Peers.nioStream(step.size())));
        chart.add("grpc-java", bySize(part, step -> Peers.grpcStream(step.size())));
        for (IperfKind kind : IperfKind.values()) {
            chart.add(kind.toString(), bySize(part, step -> Peers.iperf(kind)));
        }
        return chart;
    }

    private static List<Optional<Series>> bySize(PartResult part, Function<Step, Subject> subject) {
        return ThroughputPart.STEPS.stream()
                .map(step -> part.find(subject.apply(step), Metric.GIGABITS_PER_SECOND))
                .toList();
    }

    static LineChart rate(PartResult part) {
        LineChart chart = new LineChart(
                "Messages of 64 octets",
                "messages a second",
                "messages under way",
                RatePart.DEPTHS.stream().map(String::valueOf).toList());
        chart.add("engine write", byDepth(part, BenchOperation.WRITE, Waiting.ADAPTIVE));
        chart.add("engine write, own thread", byDepth(part, BenchOperation.WRITE, Waiting.YIELD));
        chart.add("engine read", byDepth(part, BenchOperation.READ, Waiting.ADAPTIVE));
        chart.add(
                "grpc-java",
                RatePart.DEPTHS.stream()
                        .map(depth -> part.find(Peers.grpcStream(RatePart.SIZE), Metric.MESSAGES_PER_SECOND))
                        .toList());
        return chart;
    }

    private static List<Optional<Series>> byDepth(PartResult part, BenchOperation operation, Waiting waiting) {
        return RatePart.DEPTHS.stream()
                .map(depth ->
                        part.find(Samples.engine(RatePart.plan(operation, depth, waiting)), Metric.MESSAGES_PER_SECOND))
                .toList();
    }

    static LineChart latency(PartResult part) {
        LineChart chart = new LineChart("Latency of 8 octets", "us", "percentile", List.of("p50", "p99", "p99.9"));
        for (TransferPlan plan : LatencyPart.PLANS) {
            if (plan.waiting() == Waiting.SPIN || plan.waiting() == Waiting.SLEEP) {
                chart.add(
                        "engine " + plan.operation() + ", " + plan.waiting(), byPercentile(part, Samples.engine(plan)));
            }
        }
        for (Waiting waiting : List.of(Waiting.SPIN, Waiting.SLEEP)) {
            chart.add("bare TCP, " + waiting, byPercentile(part, Peers.nioEcho(LatencyPart.SIZE, waiting)));
        }
        chart.add("grpc-java", byPercentile(part, Peers.grpcEcho(LatencyPart.SIZE)));
        return chart;
    }

    private static List<Optional<Series>> byPercentile(PartResult part, Subject subject) {
        return PERCENTILES.stream().map(metric -> part.find(subject, metric)).toList();
    }
}
