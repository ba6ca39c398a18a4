// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.result.Recorder;
import java.util.List;

/** Measures the rate of messages of 64 bytes, with 1 to 256 in flight. */
public final class RatePart implements PartRunner {

    /** Bytes of a message. */
    public static final int SIZE = 64;

    /** Numbers of messages in flight. */
    public static final List<Integer> DEPTHS = List.of(1, 4, 16, 64, 128, 256);

    /** Plan with a completion for each message. */
    public static final TransferPlan FULLY_SIGNALED =
            plan(BenchOperation.WRITE, 128, Waiting.ADAPTIVE).withSignal(1);

    private static final List<Integer> QUICK_DEPTHS = List.of(1, 128);
    private static final int MOST_UNSIGNALED = 16;

    /** Returns the messages for one completion: a quarter of the depth but at most 16. */
    static int signal(int depth) {
        return Math.clamp(depth / 4, 1, MOST_UNSIGNALED);
    }

    /** Returns a plan. The application runs on the event loop, or on a thread of its own. */
    public static TransferPlan plan(BenchOperation operation, int depth, Waiting waiting) {
        return TransferPlan.stream(operation, SIZE, depth)
                .withSignal(signal(depth))
                .withWaiting(waiting);
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        TransferPlan peer = Samples.peerStream(SIZE);
        List<TransferPlan> settling = List.of(
                plan(BenchOperation.WRITE, 128, Waiting.ADAPTIVE),
                plan(BenchOperation.READ, 128, Waiting.ADAPTIVE),
                plan(BenchOperation.WRITE, 128, Waiting.YIELD));
        try (EndPair grpc = lab.start(EndKind.GRPC, List.of(peer));
                EndPair engine = lab.start(EndKind.ENGINE, settling)) {
            Samples.record(lab, recorder, grpc, peer, Peers.grpcStream(SIZE));
            for (int depth : lab.quick() ? QUICK_DEPTHS : DEPTHS) {
                Samples.record(lab, recorder, engine, plan(BenchOperation.WRITE, depth, Waiting.ADAPTIVE));
                Samples.record(lab, recorder, engine, plan(BenchOperation.WRITE, depth, Waiting.YIELD));
                Samples.record(lab, recorder, engine, plan(BenchOperation.READ, depth, Waiting.ADAPTIVE));
            }
            Samples.record(lab, recorder, engine, FULLY_SIGNALED);
        }
    }
}
