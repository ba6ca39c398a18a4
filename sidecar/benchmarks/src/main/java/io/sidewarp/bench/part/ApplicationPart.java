// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.part.Plans.Step;
import io.sidewarp.bench.process.BesideStream;
import io.sidewarp.bench.process.CpuQuota;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.NativeProgram;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.process.SidecarProcess;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.perf.ProcessCpu;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.QueuePath;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.WorkQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Measures two applications through two sidecars: over rings in shared memory, over the gRPC queue, and beside engines
 * alone and a relay in C with the same operations. All take turns. Then measures an idle queue, and a quota.
 */
final class ApplicationPart {

    /** Streams beside which small messages are measured. */
    static final List<TransferPlan> BESIDE = List.of(
            Plans.MIDDLE.application(Operation.WRITE),
            new Step(Plans.MIB, 64).application(Operation.WRITE),
            new Step(Plans.MIB, 64).application(Operation.READ));

    /** The messages beside a stream. */
    static final TransferPlan MESSAGE = Plans.small(Operation.READ, Waiting.SLEEP);

    private static final List<Step> STEPS = List.of(Plans.SMALL_STREAM, Plans.PAGES, Plans.MIDDLE, Plans.LARGE);
    private static final List<Integer> SIZES = List.of(Plans.SMALL, 64 * Plans.KIB);
    private static final int ROUNDS = 2;

    /** Processor time of each end under the quota, in processors. */
    private static final double QUOTA = 1;

    private static final Duration IDLE_SETTLING = Duration.ofSeconds(2);
    private static final Duration IDLE_TIME = Duration.ofSeconds(5);
    private static final Duration QUICK_IDLE_TIME = Duration.ofSeconds(1);

    private ApplicationPart() {}

    /** Returns the plans of one message at a time between applications. */
    static List<TransferPlan> messages(List<Integer> sizes, Waiting waiting) {
        return Plans.OPERATIONS.stream()
                .flatMap(operation -> sizes.stream().map(size -> TransferPlan.pingPong(operation, size, waiting)))
                .toList();
    }

    static void repeat(Lab lab) {
        List<TransferPlan> engines = new ArrayList<>(Plans.engines(STEPS));
        engines.addAll(messages(SIZES, Waiting.SPIN));
        try (EndPair engine = lab.ends(EndKind.ENGINE, engines);
                SidecarPair rings = lab.applications("tcp", QueuePath.RINGS);
                SidecarPair grpc = lab.named("gRPC").applications("tcp", QueuePath.GRPC)) {
            settle(lab, rings);
            settle(lab, grpc);
            Optional<NativeProgram> relay =
                    lab.active().isOneProcessor() && lab.passive().isOneProcessor()
                            ? Optional.of(NativeProgram.relay(
                                    lab.build().root(), lab.directory(), lab.active(), lab.passive(), lab.progress()))
                            : Optional.empty();
            measure(lab, engine, rings, grpc, relay);
            for (TransferPlan stream : BESIDE) {
                BesideStream overGrpc = new BesideStream(grpc, stream);
                new Turns("beside " + stream.operation() + " " + Sizes.format(stream.size()))
                        .beside(overGrpc, MESSAGE)
                        .with(new BesideStream(rings, stream), MESSAGE)
                        .measure(lab, lab.rounds(ROUNDS));
            }
            idleQueue(lab, rings.active());
        }
        quotas(lab);
    }

    private static void settle(Lab lab, SidecarPair pair) {
        List<TransferPlan> plans = new ArrayList<>(Plans.applications(STEPS));
        plans.addAll(messages(SIZES, Waiting.ADAPTIVE));
        lab.settle(pair, plans);
        BESIDE.forEach(stream -> lab.settleBriefly(new BesideStream(pair, stream), MESSAGE));
    }

    private static void measure(
            Lab lab, EndPair engine, SidecarPair rings, SidecarPair grpc, Optional<NativeProgram> relay) {
        for (Operation operation : Plans.OPERATIONS) {
            for (int size : SIZES) {
                TransferPlan plan = TransferPlan.pingPong(operation, size, Waiting.ADAPTIVE);
                Turns turns = new Turns(operation + " " + Sizes.format(size) + " at a time")
                        .beside(engine, plan.withWaiting(Waiting.SPIN));
                relay.filter(ignored -> size == Plans.SMALL).ifPresent(program -> turns.beside(program, plan));
                turns.with(rings, plan).with(grpc, plan).measure(lab, lab.rounds(ROUNDS));
            }
            for (Step step : STEPS) {
                TransferPlan plan = step.application(operation);
                Turns turns = new Turns(operation + " " + Sizes.format(step.size()) + ", depth " + step.depth())
                        .beside(engine, step.engine(operation));
                relay.filter(ignored -> step.equals(Plans.SMALL_STREAM))
                        .ifPresent(program -> turns.beside(program, plan));
                turns.with(rings, plan).with(grpc, plan).measure(lab, lab.rounds(ROUNDS));
            }
        }
    }

    /** Measures the costs of an open but idle queue over rings, with the defaults of the client, in this process. */
    private static void idleQueue(Lab lab, SidecarProcess sidecar) {
        try (SidewarpClient client = sidecar.client();
                Session session = client.openSession("bench")) {
            long octets = sidecar.volumeOctets();
            try (WorkQueue queue = session.openQueue(QueueOptions.defaults().withPath(QueuePath.RINGS))) {
                queue.onCompletion(completion -> {});
                double files = (double) (sidecar.volumeOctets() - octets) / Plans.KIB;
                Lab.pause(IDLE_SETTLING);
                OptionalLong sidecarBegin = sidecar.cpu().nanos();
                OptionalLong ownBegin = ProcessCpu.own().nanos();
                long begin = System.nanoTime();
                Lab.pause(lab.quick() ? QUICK_IDLE_TIME : IDLE_TIME);
                double percent = 100.0 / (System.nanoTime() - begin);
                Map<Metric, Double> figures = Map.of(
                        Metric.SIDECAR_CPU_PERCENT, sidecar.cpu().since(sidecarBegin) * percent,
                        Metric.APPLICATION_CPU_PERCENT, ProcessCpu.own().since(ownBegin) * percent,
                        Metric.FILES_KIB, files);
                Subject subject = Subject.of("application", "idle queue over rings");
                lab.record("idle queue", false, subject, figures);
            }
        }
    }

    /**
     * Measures on all processors, without and with a quota of processor time. With a quota, application and sidecar of
     * an end share it, as in a pod with a CPU limit.
     */
    private static void quotas(Lab lab) {
        Optional<String> obstacle = CpuQuota.obstacle();
        if (obstacle.isPresent()) {
            lab.progress().accept("the quota is left out: " + obstacle.get());
            return;
        }
        List<TransferPlan> plans = new ArrayList<>(messages(List.of(Plans.SMALL), Waiting.ADAPTIVE));
        plans.addAll(Plans.applications(List.of(Plans.MIDDLE)));
        Lab free = lab.named("on all processors").at(Place.ANYWHERE, Place.ANYWHERE);
        try (CpuQuota active = CpuQuota.create("active", QUOTA);
                CpuQuota passive = CpuQuota.create("passive", QUOTA);
                SidecarPair unlimited = free.applications("tcp", QueuePath.RINGS);
                SidecarPair limited = lab.named("under a quota of " + (int) QUOTA)
                        .at(Place.within(active), Place.within(passive))
                        .applications("tcp", QueuePath.RINGS)) {
            lab.settle(unlimited, plans);
            lab.settle(limited, plans);
            for (TransferPlan plan : plans) {
                new Turns("quota, " + plan.operation() + " " + Sizes.format(plan.size()))
                        .beside(unlimited, plan)
                        .with(limited, plan)
                        .measure(lab, 1);
            }
            lab.record(
                    "use of the quota",
                    false,
                    Subject.of(limited.name(), "all of it, asking end"),
                    Map.of(Metric.THROTTLED_PERCENT, active.use().throttledPercent()));
        }
    }
}
