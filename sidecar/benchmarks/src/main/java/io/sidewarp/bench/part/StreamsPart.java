// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures streams of engines and of applications beside iperf3 and grpc-java. Another peer is bare TCP with the copies
 * and CRCs that RFC 5044 requires of an engine. All take turns of a moment each, and so meet the same phases of a
 * shared machine.
 */
public final class StreamsPart implements PartRunner {

    /** Sizes and depths of the streams. */
    public static final List<ThroughputPart.Step> STEPS = MomentsPart.STEPS;

    private static final int TURNS = 8;
    private static final int QUICK_TURNS = 1;
    private static final Duration WARMUP = Duration.ofMillis(100);
    private static final Duration MOMENT = Duration.ofMillis(250);

    /** Bytes that iperf3 sends in about one moment. */
    private static final long IPERF_OCTETS = 1L << 30;

    /** Returns the plans of a step between engines: Writes and Reads. */
    public static List<TransferPlan> plans(ThroughputPart.Step step, boolean crc) {
        return List.of(
                step.plan(BenchOperation.WRITE).withCrc(crc),
                step.plan(BenchOperation.READ).withCrc(crc));
    }

    /** Returns the subject for bare TCP with the copies and CRCs of an engine. It is the same for Writes and Reads. */
    public static Subject limit(ThroughputPart.Step step, boolean crc) {
        return Samples.engine(limitPlan(step, crc)).of("limit");
    }

    private static TransferPlan limitPlan(ThroughputPart.Step step, boolean crc) {
        return step.plan(BenchOperation.WRITE).withSignal(1).withCrc(crc).withWaiting(Waiting.SPIN);
    }

    /** Returns the subject for the stream of iperf3 in the turns of a step. */
    public static Subject iperf(IperfKind kind, ThroughputPart.Step step) {
        return Peers.iperf(kind).of("iperf3 beside " + Sizes.format(step.size()));
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
                EndPair grpc = lab.start(EndKind.GRPC, calls);
                SidecarPair sidecars = lab.startSidecars("tcp")) {
            SidecarTests.settle(lab, sidecars, STEPS, List.of(LatencyPart.SIZE));
            for (ThroughputPart.Step step : STEPS) {
                for (int turn = 0; turn < (lab.quick() ? QUICK_TURNS : TURNS); turn++) {
                    peers(lab, recorder, step, grpc);
                    for (boolean crc : List.of(true, false)) {
                        record(lab, recorder, limit, limitPlan(step, crc), limit(step, crc));
                        for (TransferPlan plan : plans(step, crc)) {
                            record(lab, recorder, engine, plan, Samples.engine(plan));
                        }
                    }
                    for (String operation : SidecarTests.OPERATIONS) {
                        SidecarTests.moment(lab, recorder, sidecars, operation, step, WARMUP, MOMENT);
                    }
                }
            }
        }
    }

    private static void peers(Lab lab, Recorder recorder, ThroughputPart.Step step, EndPair grpc) {
        record(lab, recorder, grpc, Samples.peerStream(step.size()), Peers.grpcStream(step.size()));
        for (IperfKind kind : IperfKind.values()) {
            Samples.iperf(lab, recorder, kind, IPERF_OCTETS, iperf(kind, step));
        }
    }

    private static void record(Lab lab, Recorder recorder, EndPair pair, TransferPlan plan, Subject subject) {
        Samples.record(lab, recorder, pair.measure(plan, WARMUP, MOMENT), subject);
    }
}
