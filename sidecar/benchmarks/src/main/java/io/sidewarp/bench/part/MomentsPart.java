// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Iperf;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Recorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures streams in moments, one after the other, with the distance between both ends' processors before and after
 * each. The host of a virtual machine may move processors at any time, and the distance influences results more than
 * the program. Ratios therefore compare moments with equal distance.
 */
public final class MomentsPart implements PartRunner {

    /** Sizes and depths of the streams. */
    public static final List<ThroughputPart.Step> STEPS =
            List.of(new ThroughputPart.Step(64 << 10, 16), new ThroughputPart.Step(1 << 20, 8));

    private static final int MIB = 1 << 20;
    private static final int COUNT = 12;
    private static final int QUICK_COUNT = 2;
    private static final Duration MOMENT = Duration.ofMillis(150);

    /** Time of a moment of an application, with a connection of its own and therefore more work around it. */
    private static final Duration APPLICATION_MOMENT = Duration.ofMillis(250);

    private static final Duration APPLICATION_WARMUP = Duration.ofMillis(100);

    /** Bytes that iperf3 sends in about one moment. */
    private static final long IPERF_OCTETS = 512L * MIB;

    /** Returns the plans of the engine. */
    public static List<TransferPlan> plans() {
        return plans(List.of(Waiting.ADAPTIVE, Waiting.SLEEP));
    }

    private static List<TransferPlan> plans(List<Waiting> waitings) {
        List<TransferPlan> plans = new ArrayList<>();
        for (Waiting waiting : waitings) {
            for (BenchOperation operation : List.of(BenchOperation.WRITE, BenchOperation.READ)) {
                STEPS.forEach(step -> plans.add(step.plan(operation).withWaiting(waiting)));
            }
        }
        return plans;
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        TransferPlan bare = Samples.peerStream(MIB);
        List<TransferPlan> plans = lab.quick() ? plans(List.of(Waiting.ADAPTIVE)) : plans();
        try (EndPair line = lab.start(EndKind.LINE, List.of());
                EndPair nio = lab.start(EndKind.NIO, List.of(bare));
                EndPair engine = lab.start(EndKind.ENGINE, plans);
                SidecarPair sidecars = lab.startSidecars("tcp")) {
            SidecarTests.settle(lab, sidecars, STEPS, List.of(LatencyPart.SIZE));
            Moments moments =
                    new Moments(lab, recorder, lab.quick() ? QUICK_COUNT : COUNT, () -> Samples.distance(line));
            for (TransferPlan plan : plans) {
                iperf(lab, moments, IperfKind.LARGE);
                stream(lab, engine, plan, moment -> moments.measure(Samples.engine(plan), moment));
            }
            iperf(lab, moments, IperfKind.LIKE_ENGINE);
            stream(lab, nio, bare, moment -> moments.measure(Peers.nioStream(MIB), moment));
            for (String operation : SidecarTests.OPERATIONS) {
                for (ThroughputPart.Step step : STEPS) {
                    moments.measure(
                            SidecarTests.stream(operation, step),
                            () -> SidecarTests.rate(sidecars, operation, step, APPLICATION_WARMUP, APPLICATION_MOMENT));
                }
            }
        }
    }

    private static void iperf(Lab lab, Moments moments, IperfKind kind) {
        moments.measure(
                Peers.iperf(kind),
                () -> new Iperf(lab.active(), lab.passive())
                        .transfer(kind, IPERF_OCTETS)
                        .gigabitsPerSecond());
    }

    private static void stream(Lab lab, EndPair pair, TransferPlan plan, Consumer<Moments.Moment> measured) {
        pair.connect(plan);
        pair.run(plan, Duration.ZERO, lab.time());
        measured.accept(() -> pair.run(plan, Duration.ZERO, MOMENT).gigabitsPerSecond());
        pair.release();
    }
}
