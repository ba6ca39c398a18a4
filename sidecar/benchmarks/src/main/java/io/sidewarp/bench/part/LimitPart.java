// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.Operation;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Streams of engines beside bare TCP with the copies and CRCs that RFC 5044 makes an engine do, and beside grpc-java. By turns
 * of a moment each, so that all meet the same phases of a shared machine.
 */
public final class LimitPart implements PartRunner {

    /** What streams. */
    public static final List<ThroughputPart.Step> STEPS = MomentsPart.STEPS;

    private static final int TURNS = 8;
    private static final int QUICK_TURNS = 1;
    private static final Duration WARMUP = Duration.ofMillis(100);
    private static final Duration MOMENT = Duration.ofMillis(250);

    /** Writes and Reads of a step. */
    public static List<TransferPlan> plans(ThroughputPart.Step step, boolean crc) {
        return List.of(
                step.plan(Operation.WRITE).withCrc(crc),
                step.plan(Operation.READ).withCrc(crc));
    }

    /** Bare TCP with the copies and CRCs of an engine: the same for Writes and Reads. */
    public static Subject limit(ThroughputPart.Step step, boolean crc) {
        return Samples.engine(limitPlan(step, crc)).of("limit");
    }

    private static TransferPlan limitPlan(ThroughputPart.Step step, boolean crc) {
        return step.plan(Operation.WRITE).withSignal(1).withCrc(crc).withWaiting(Waiting.SPIN);
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        List<TransferPlan> engines = new ArrayList<>();
        List<TransferPlan> limits = new ArrayList<>();
        List<TransferPlan> calls = new ArrayList<>();
        for (ThroughputPart.Step step : STEPS) {
            for (boolean crc : List.of(true, false)) {
                engines.addAll(plans(step, crc));
                limits.add(limitPlan(step, crc));
            }
            calls.add(Samples.peerStream(step.size()));
        }
        try (EndPair engine = lab.start(EndKind.ENGINE, engines);
                EndPair limit = lab.start(EndKind.LIMIT, limits);
                EndPair grpc = lab.start(EndKind.GRPC, calls)) {
            for (ThroughputPart.Step step : STEPS) {
                for (int turn = 0; turn < (lab.quick() ? QUICK_TURNS : TURNS); turn++) {
                    TransferPlan call = Samples.peerStream(step.size());
                    record(lab, recorder, grpc, call, Peers.grpcStream(step.size()));
                    for (boolean crc : List.of(true, false)) {
                        record(lab, recorder, limit, limitPlan(step, crc), limit(step, crc));
                        for (TransferPlan plan : plans(step, crc)) {
                            record(lab, recorder, engine, plan, Samples.engine(plan));
                        }
                    }
                }
            }
        }
    }

    private static void record(Lab lab, Recorder recorder, EndPair pair, TransferPlan plan, Subject subject) {
        Samples.record(lab, recorder, pair.measure(plan, WARMUP, MOMENT), subject);
    }
}
