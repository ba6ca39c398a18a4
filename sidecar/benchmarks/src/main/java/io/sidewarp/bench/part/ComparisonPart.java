// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Recorder;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares this build with another one by turns, both warm: engines, and applications through two sidecars. By turns,
 * both builds meet the same phases of a shared machine.
 */
public final class ComparisonPart implements PartRunner {

    /** Sizes and depths of the streams. */
    public static final List<ThroughputPart.Step> STEPS = List.of(
            new ThroughputPart.Step(4 << 10, 64),
            new ThroughputPart.Step(64 << 10, 16),
            new ThroughputPart.Step(1 << 20, 8));

    private static final int TURNS = 3;

    /** Returns the plans by which engines are compared. */
    public static List<TransferPlan> plans() {
        List<TransferPlan> plans = new ArrayList<>();
        for (BenchOperation operation : List.of(BenchOperation.WRITE, BenchOperation.READ)) {
            STEPS.forEach(step -> plans.add(step.plan(operation)));
            plans.add(STEPS.getLast().plan(operation).withConnections(ThroughputPart.CONNECTIONS));
            plans.add(TransferPlan.pingPong(operation, LatencyPart.SIZE, Waiting.SPIN));
        }
        return plans;
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        Lab before = lab.before().orElseThrow(() -> new IllegalStateException("no build to compare with"));
        int turns = lab.quick() ? 1 : TURNS;
        engines(before, recorder.before(), lab, recorder, turns);
        applications(before, recorder.before(), lab, recorder, turns);
    }

    private static void engines(Lab before, Recorder old, Lab lab, Recorder recorder, int turns) {
        try (EndPair other = before.start(EndKind.ENGINE, plans());
                EndPair own = lab.start(EndKind.ENGINE, plans())) {
            for (TransferPlan plan : plans()) {
                for (int turn = 0; turn < turns; turn++) {
                    Samples.record(before, old, other, plan);
                    Samples.record(lab, recorder, own, plan);
                }
            }
        }
    }

    private static void applications(Lab before, Recorder old, Lab lab, Recorder recorder, int turns) {
        try (SidecarPair other = before.startSidecars("tcp");
                SidecarPair own = lab.startSidecars("tcp")) {
            List<Integer> sizes = List.of(LatencyPart.SIZE);
            settle(before, other);
            settle(lab, own);
            for (int turn = 0; turn < turns; turn++) {
                for (ThroughputPart.Step step : STEPS) {
                    SidecarTests.stream(before, old, other, step);
                    SidecarTests.stream(lab, recorder, own, step);
                }
                SidecarTests.pingPong(before, old, other, sizes);
                SidecarTests.pingPong(lab, recorder, own, sizes);
                for (BesideTests.Stream stream : BesideTests.STREAMS) {
                    BesideTests.measure(before, old, other, stream);
                    BesideTests.measure(lab, recorder, own, stream);
                }
            }
        }
    }

    private static void settle(Lab lab, SidecarPair pair) {
        SidecarTests.settle(lab, () -> {
            SidecarTests.warm(pair, STEPS, List.of(LatencyPart.SIZE));
            BesideTests.warm(pair);
        });
    }
}
