// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.part.ApplicationPart;
import io.sidewarp.bench.part.BesideTests;
import io.sidewarp.bench.part.ConnectionsPart;
import io.sidewarp.bench.part.IdleQueue;
import io.sidewarp.bench.part.LatencyPart;
import io.sidewarp.bench.part.Peers;
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
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/** Targets of Sidewarp. Most are ratios to peers in the same run; those of streams are taken turn by turn. */
final class Targets {

    /**
     * Limit of the ratio to the relay in C, or to engine and relay together. This limit counts where they, which do
     * less, exceed the target for engines.
     */
    private static final double OF_RELAY = 1.25;

    private static final Step SMALL = ApplicationPart.SMALL;
    private static final Step MIDDLE = new Step(64 << 10, 16);
    private static final Step LARGE = new Step(1 << 20, 8);
    private static final int RATE_DEPTH = 128;

    /** Ratio that counts as no loss, since medians of a shared machine differ that much. */
    private static final double NO_LOSS = 0.95;

    /** Percentage that counts as idle, since a JVM uses less by itself. */
    private static final double IDLE_PERCENT = 1;

    /** Bytes that count as no allocation, since the measurement itself allocates less. */
    private static final double NO_ALLOCATION = 1;

    private final BenchResults results;

    Targets(BenchResults results) {
        this.results = results;
    }

    /**
     * Returns the table of targets.
     *
     * @param earlier earlier table, whose rows stay if there is no result; may be empty
     */
    static String table(BenchResults results, String earlier) {
        List<String> header = List.of("figure", "target", "measured", "met");
        StringBuilder table = new StringBuilder(Markdown.table(1, header, List.of()));
        for (Target target : new Targets(results).all()) {
            String row = Markdown.row(target.row());
            table.append(
                    target.measured().isPresent() ? row : row(earlier, target).orElse(row));
        }
        return table.toString();
    }

    private static Optional<String> row(String table, Target target) {
        String begin = "| " + target.figure() + " | ";
        return table.lines()
                .filter(line -> line.startsWith(begin))
                .map(line -> line + "\n")
                .findFirst();
    }

    List<Target> all() {
        List<Target> targets = new ArrayList<>();
        for (BenchOperation operation : List.of(BenchOperation.WRITE, BenchOperation.READ)) {
            ofIperf(targets, engine(operation, LARGE), LARGE, 1.0);
            ofIperf(targets, engine(operation, MIDDLE), MIDDLE, 0.9);
            ofIperf(targets, application(operation, LARGE), LARGE, 0.9);
            ofIperf(targets, application(operation, MIDDLE), MIDDLE, 0.8);
        }
        for (Step step : List.of(LARGE, MIDDLE)) {
            ofGrpc(targets, engine(BenchOperation.WRITE, step));
            ofGrpc(targets, application(BenchOperation.WRITE, step));
        }
        TransferPlan rate = RatePart.plan(BenchOperation.WRITE, RATE_DEPTH, Waiting.ADAPTIVE);
        targets.add(Target.atLeast(
                1e6,
                "engine: Writes of 64 octets a second, depth " + RATE_DEPTH,
                median(Part.RATE, Samples.engine(rate), Metric.MESSAGES_PER_SECOND)));
        targets.add(Target.atMost(
                1.25,
                "engine: p50 of an 8-octet Write, of half a round trip of bare TCP, both spinning",
                ratio(
                        Part.LATENCY,
                        Samples.engine(TransferPlan.pingPong(BenchOperation.WRITE, LatencyPart.SIZE, Waiting.SPIN)),
                        Peers.nioEcho(LatencyPart.SIZE, Waiting.SPIN),
                        Metric.P50_MICROSECONDS)));
        connections(targets);
        queues(targets);
        targets.add(Target.atMost(
                120, "sidecar: MiB resident when idle", median(Part.SIDECAR, SidecarPart.IDLE, Metric.RESIDENT_MIB)));
        targets.add(Target.atMost(
                1000,
                "sidecar: ms from the start of the process until ready",
                median(Part.SIDECAR, SidecarPart.IDLE, Metric.READY_MILLISECONDS)));
        targets.add(Target.atMost(
                NO_ALLOCATION,
                "engine: octets of heap for a 64-octet Write, the end that posts",
                median(Part.RATE, Samples.engine(rate), Metric.ACTIVE_ALLOCATED_OCTETS_PER_MESSAGE)));
        return targets;
    }

    private static Subject engine(BenchOperation operation, Step step) {
        return Samples.engine(step.plan(operation));
    }

    private static Subject application(BenchOperation operation, Step step) {
        return SidecarTests.stream(operation.toString(), step);
    }

    private void ofIperf(List<Target> targets, Subject own, Step step, double limit) {
        for (IperfKind kind : IperfKind.values()) {
            targets.add(Target.atLeast(
                    limit,
                    stream(own) + ", depth " + own.depth() + ", of " + kind,
                    ofEachTurn(own, StreamsPart.iperf(kind, step))));
        }
    }

    private void ofGrpc(List<Target> targets, Subject own) {
        Subject grpc = Peers.grpcStream((int) own.size());
        targets.add(Target.atLeast(3, stream(own) + ", throughput of grpc-java", ofEachTurn(own, grpc)));
        targets.add(Target.atMost(
                1.0 / 3, stream(own) + ", CPU per GiB, both ends, of grpc-java", Cells.ratio(cpu(own), cpu(grpc))));
    }

    private static String stream(Subject own) {
        return own.program() + ": " + own.operation() + " " + Sizes.format(own.size());
    }

    private OptionalDouble ofEachTurn(Subject own, Subject peer) {
        return ofEachTurn(Part.STREAMS, own, peer, Metric.GIGABITS_PER_SECOND);
    }

    private OptionalDouble ofEachTurn(Part part, Subject own, Subject peer, Metric metric) {
        return cells(part).map(cells -> cells.medianOfTurns(own, peer, metric)).orElse(OptionalDouble.empty());
    }

    private void connections(List<Target> targets) {
        int most = ConnectionsPart.COUNTS.getLast();
        Subject subject = ConnectionsPart.subject(most);
        targets.add(Target.atMost(
                16,
                "engine: KiB of each of " + most + " idle connections, connecting end",
                kib(median(Part.CONNECTIONS, subject, Metric.ACTIVE_OCTETS_PER_CONNECTION))));
        targets.add(Target.atMost(
                16,
                "engine: KiB of each of " + most + " idle connections, accepting end",
                kib(median(Part.CONNECTIONS, subject, Metric.PASSIVE_OCTETS_PER_CONNECTION))));
        targets.add(Target.atLeast(
                NO_LOSS,
                "engine: throughput of one among " + most + " connections, of one alone",
                median(Part.CONNECTIONS, subject, Metric.OF_ONE_ALONE)));
    }

    /** Adds targets of rings in shared memory. */
    private void queues(List<Target> targets) {
        for (BenchOperation operation : ApplicationPart.OPERATIONS) {
            targets.add(Target.atMost(
                    operation == BenchOperation.WRITE ? 2.2 : 1.6,
                    "application over rings: p50 of an 8-octet " + operation + ", of engines",
                    ofApplications(
                            SidecarTests.pingPong(operation.toString(), LatencyPart.SIZE),
                            Samples.engine(ApplicationPart.pingPong(operation, LatencyPart.SIZE)),
                            Metric.P50_MICROSECONDS)));
        }
        for (BenchOperation operation : ApplicationPart.OPERATIONS) {
            Subject application = SidecarTests.pingPong(operation.toString(), LatencyPart.SIZE);
            targets.add(Target.atMost(
                    OF_RELAY,
                    "application over rings: p50 of an 8-octet " + operation + ", of a relay in C",
                    ofApplications(application, ApplicationPart.relayed(application), Metric.P50_MICROSECONDS)));
        }
        for (BenchOperation operation : ApplicationPart.OPERATIONS) {
            targets.add(Target.atLeast(
                    0.6,
                    "application over rings: " + operation + " 64 B, depth " + SMALL.depth()
                            + ", of engines (aim 0.75)",
                    ofApplications(
                            application(operation, SMALL), engine(operation, SMALL), Metric.MESSAGES_PER_SECOND)));
        }
        for (BenchOperation operation : ApplicationPart.OPERATIONS) {
            targets.add(Target.atLeast(
                    1 / OF_RELAY,
                    "application over rings: " + operation + " 64 B, depth " + SMALL.depth()
                            + ", of engine and relay in C, one after the other",
                    ofBoth(operation)));
        }
        for (Step step : List.of(MIDDLE, LARGE)) {
            targets.add(Target.atLeast(
                    NO_LOSS,
                    "application over rings: write " + Sizes.format(step.size()) + ", of engines",
                    ofApplications(
                            application(BenchOperation.WRITE, step),
                            engine(BenchOperation.WRITE, step),
                            Metric.GIGABITS_PER_SECOND)));
        }
        for (BesideTests.Stream stream : BesideTests.STREAMS) {
            Subject rings = BesideTests.beside(stream);
            targets.add(Target.atMost(
                    1,
                    "application over rings: p99 of an 8-octet read beside " + stream + ", of the gRPC queue",
                    ofApplications(rings, rings.with(ApplicationPart.GRPC), Metric.P99_MICROSECONDS)));
        }
        targets.add(Target.atMost(
                IDLE_PERCENT,
                "sidecar: % of a processor beside an idle queue over rings",
                median(Part.APPLICATION, IdleQueue.SUBJECT, Metric.SIDECAR_CPU_PERCENT)));
        targets.add(Target.atMost(
                IDLE_PERCENT,
                "application: % of a processor with an idle queue over rings",
                median(Part.APPLICATION, IdleQueue.SUBJECT, Metric.APPLICATION_CPU_PERCENT)));
        targets.add(Target.atMost(
                64,
                "application: KiB of files of a queue over rings",
                median(Part.APPLICATION, IdleQueue.SUBJECT, Metric.FILES_KIB)));
    }

    /**
     * Returns the ratio of the rate of small messages over rings to that of a processor that does the work of both. It
     * carries each message through the relay first, and then through the engine.
     */
    private OptionalDouble ofBoth(BenchOperation operation) {
        Subject rings = application(operation, SMALL);
        OptionalDouble ofEngine = ofApplications(rings, engine(operation, SMALL), Metric.MESSAGES_PER_SECOND);
        OptionalDouble ofRelay = ofApplications(rings, ApplicationPart.relayed(rings), Metric.MESSAGES_PER_SECOND);
        return ofEngine.isPresent() && ofRelay.isPresent()
                ? OptionalDouble.of(ofEngine.getAsDouble() + ofRelay.getAsDouble())
                : OptionalDouble.empty();
    }

    private OptionalDouble ofApplications(Subject subject, Subject reference, Metric metric) {
        return ofEachTurn(Part.APPLICATION, subject, reference, metric);
    }

    private static OptionalDouble kib(OptionalDouble octets) {
        return octets.isPresent() ? OptionalDouble.of(octets.getAsDouble() / 1024) : octets;
    }

    private OptionalDouble median(Part part, Subject subject, Metric metric) {
        return cells(part).map(cells -> cells.median(subject, metric)).orElse(OptionalDouble.empty());
    }

    private OptionalDouble ratio(Part part, Subject subject, Subject reference, Metric metric) {
        return Cells.ratio(median(part, subject, metric), median(part, reference, metric));
    }

    private OptionalDouble cpu(Subject subject) {
        return cells(Part.STREAMS).map(cells -> cells.cpuOfBothEnds(subject)).orElse(OptionalDouble.empty());
    }

    private Optional<Cells> cells(Part part) {
        return Optional.ofNullable(results.parts().get(part)).map(Cells::new);
    }
}
