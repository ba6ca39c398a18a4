// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.part.Plans.Step;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Iperf;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.client.QueuePath;
import java.util.ArrayList;
import java.util.List;

/** Parts that measure between engines, beside programs without RDMA. */
final class EngineParts {

    /** Number of connections in measurements with several. */
    static final int CONNECTIONS = 8;

    private static final List<Step> STEPS = List.of(
            Plans.SMALL_STREAM,
            new Step(512, 128),
            Plans.PAGES,
            Plans.MIDDLE,
            Plans.LARGE,
            new Step(16 * Plans.MIB, 2));

    private static final List<Step> QUICK_STEPS = List.of(Plans.MIDDLE, Plans.LARGE);

    private static final int STREAM_ROUNDS = 8;

    /** Numbers of messages in flight. */
    private static final List<Integer> DEPTHS = List.of(1, 4, 16, 64, 128, 256);

    private static final List<Integer> QUICK_DEPTHS = List.of(1, 128);
    private static final int RATE_SIZE = 64;

    private EngineParts() {}

    /**
     * Measures Writes and Reads of 64 bytes to 16 MiB: with and without CRC, with Markers, and over several
     * connections.
     */
    static void throughput(Lab lab) {
        List<Step> steps = lab.choose(STEPS, QUICK_STEPS);
        List<TransferPlan> all =
                steps.stream().flatMap(step -> variants(lab, step).stream()).toList();
        try (EndPair nio = lab.ends(EndKind.NIO, List.of(Plans.peer(Plans.MIB)));
                EndPair grpc = lab.ends(
                        EndKind.GRPC,
                        steps.stream().map(step -> Plans.peer(step.size())).toList());
                EndPair engine = lab.ends(EndKind.ENGINE, all)) {
            new Turns("iperf3")
                    .with(lab.iperf(Iperf.DEFAULT, false), Plans.peer(Iperf.DEFAULT))
                    .with(lab.iperf(Iperf.LARGE, false), Plans.peer(Iperf.LARGE))
                    .with(lab.iperf(Iperf.LARGE, true), Plans.peer(Iperf.LARGE))
                    .measure(lab, 1);
            for (Step step : steps) {
                new Turns(Sizes.format(step.size()))
                        .beside(nio, Plans.peer(step.size()))
                        .beside(grpc, Plans.peer(step.size()))
                        .with(engine, variants(lab, step))
                        .measure(lab, 1);
            }
        }
    }

    private static List<TransferPlan> variants(Lab lab, Step step) {
        List<TransferPlan> plans = Plans.engines(List.of(step));
        return lab.choose(
                plans.stream()
                        .flatMap(plan -> List.of(
                                plan, plan.withCrc(false), plan.withMarkers(true), plan.withConnections(CONNECTIONS))
                                .stream())
                        .toList(),
                plans);
    }

    /** Measures streams of engines and of applications beside peers, all by turns of a moment each. */
    static void streams(Lab lab) {
        List<Step> steps = List.of(Plans.MIDDLE, Plans.LARGE);
        List<TransferPlan> engines = new ArrayList<>();
        List<TransferPlan> limits = new ArrayList<>();
        for (boolean crc : List.of(true, false)) {
            Plans.engines(steps).forEach(plan -> engines.add(plan.withCrc(crc)));
            steps.forEach(step -> limits.add(limit(step, crc)));
        }
        try (EndPair engine = lab.ends(EndKind.ENGINE, engines);
                EndPair limit = lab.ends(EndKind.LIMIT, limits);
                EndPair grpc = lab.ends(
                        EndKind.GRPC,
                        steps.stream().map(step -> Plans.peer(step.size())).toList());
                SidecarPair applications = lab.applications("tcp", QueuePath.RINGS)) {
            lab.settle(applications, Plans.applications(steps));
            for (Step step : steps) {
                Turns turns = new Turns(Sizes.format(step.size()))
                        .beside(lab.iperf(Iperf.DEFAULT, false), Plans.peer(Iperf.DEFAULT))
                        .beside(lab.iperf(Iperf.LARGE, false), Plans.peer(Iperf.LARGE))
                        .beside(lab.iperf(Iperf.LARGE, true), Plans.peer(Iperf.LARGE))
                        .beside(grpc, Plans.peer(step.size()))
                        .beside(limit, limit(step, true))
                        .with(engine, Plans.engines(List.of(step)))
                        .with(applications, Plans.applications(List.of(step)));
                turns.measure(lab.inMoments(), lab.rounds(STREAM_ROUNDS));
            }
            for (Step step : steps) {
                new Turns(Sizes.format(step.size()) + ", no CRC")
                        .beside(limit, limit(step, false))
                        .with(
                                engine,
                                Plans.engines(List.of(step)).stream()
                                        .map(plan -> plan.withCrc(false))
                                        .toList())
                        .measure(lab.inMoments(), lab.rounds(STREAM_ROUNDS));
            }
        }
    }

    /** Returns the plan of bare TCP with the copies and CRCs of an engine. It is the same for Writes and Reads. */
    private static TransferPlan limit(Step step, boolean crc) {
        return TransferPlan.stream(Operation.WRITE, step.size(), step.depth())
                .withCrc(crc)
                .withWaiting(Waiting.SPIN);
    }

    /** Measures the rate of messages of 64 bytes. The application runs on the event loop, or on a thread of its own. */
    static void rate(Lab lab) {
        Step settling = Plans.SMALL_STREAM;
        try (EndPair grpc = lab.ends(EndKind.GRPC, List.of(Plans.peer(RATE_SIZE)));
                EndPair engine = lab.ends(
                        EndKind.ENGINE,
                        List.of(
                                settling.engine(Operation.WRITE),
                                settling.engine(Operation.READ),
                                settling.engine(Operation.WRITE).withWaiting(Waiting.YIELD)))) {
            for (int depth : lab.choose(DEPTHS, QUICK_DEPTHS)) {
                TransferPlan write = new Step(RATE_SIZE, depth).engine(Operation.WRITE);
                new Turns("depth " + depth)
                        .beside(grpc, Plans.peer(RATE_SIZE))
                        .with(engine, write)
                        .with(engine, write.withWaiting(Waiting.YIELD))
                        .with(engine, new Step(RATE_SIZE, depth).engine(Operation.READ))
                        .measure(lab, 1);
            }
            new Turns("each completion asked for")
                    .beside(grpc, Plans.peer(RATE_SIZE))
                    .with(engine, settling.engine(Operation.WRITE).withSignal(1))
                    .measure(lab, 1);
        }
    }

    /**
     * Measures messages of 8 bytes, one at a time. The latency is half of the round trip; for a Read, it is the time
     * from posting to completion. A process that polls memory must spin; a process that waits for completions can sleep.
     */
    static void latency(Lab lab) {
        TransferPlan spinning = Plans.small(Operation.SEND, Waiting.SPIN);
        TransferPlan sleeping = Plans.small(Operation.SEND, Waiting.SLEEP);
        List<TransferPlan> polling = List.of(
                Plans.small(Operation.WRITE, Waiting.SPIN),
                spinning,
                Plans.small(Operation.READ, Waiting.SPIN),
                Plans.small(Operation.SEND, Waiting.ADAPTIVE),
                Plans.small(Operation.READ, Waiting.ADAPTIVE));
        List<TransferPlan> waiting = List.of(
                sleeping, Plans.small(Operation.READ, Waiting.SLEEP), Plans.small(Operation.WRITE, Waiting.YIELD));
        List<TransferPlan> all = new ArrayList<>(polling);
        all.addAll(waiting);
        try (EndPair nio = lab.ends(EndKind.NIO, List.of(spinning, sleeping));
                EndPair grpc = lab.ends(EndKind.GRPC, List.of(sleeping));
                EndPair engine = lab.ends(EndKind.ENGINE, all)) {
            new Turns("polling").beside(nio, spinning).with(engine, polling).measure(lab, 1);
            new Turns("sleeping")
                    .beside(nio, sleeping)
                    .beside(grpc, sleeping)
                    .with(engine, waiting)
                    .measure(lab, 1);
        }
    }
}
