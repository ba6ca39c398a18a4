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

/**
 * Measures messages of 8 bytes, one at a time. The latency is half of the round trip; for a Read, it is the time from
 * posting to completion. A process that polls memory must spin; a process that waits for completions can sleep.
 */
public final class LatencyPart implements PartRunner {

    /** Bytes of a message. */
    public static final int SIZE = 8;

    /** Plans of the engine. */
    public static final List<TransferPlan> PLANS = List.of(
            TransferPlan.pingPong(BenchOperation.WRITE, SIZE, Waiting.SPIN),
            TransferPlan.pingPong(BenchOperation.SEND, SIZE, Waiting.SPIN),
            TransferPlan.pingPong(BenchOperation.READ, SIZE, Waiting.SPIN),
            TransferPlan.pingPong(BenchOperation.SEND, SIZE, Waiting.SLEEP),
            TransferPlan.pingPong(BenchOperation.READ, SIZE, Waiting.SLEEP),
            TransferPlan.pingPong(BenchOperation.SEND, SIZE, Waiting.ADAPTIVE),
            TransferPlan.pingPong(BenchOperation.READ, SIZE, Waiting.ADAPTIVE),
            TransferPlan.pingPong(BenchOperation.WRITE, SIZE, Waiting.YIELD));

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        TransferPlan spinning = TransferPlan.pingPong(BenchOperation.SEND, SIZE, Waiting.SPIN);
        TransferPlan sleeping = spinning.withWaiting(Waiting.SLEEP);
        try (EndPair nio = lab.start(EndKind.NIO, List.of(spinning, sleeping));
                EndPair grpc = lab.start(EndKind.GRPC, List.of(sleeping));
                EndPair engine = lab.start(EndKind.ENGINE, PLANS)) {
            for (TransferPlan plan : PLANS) {
                if (plan.operation() == BenchOperation.WRITE && plan.waiting() == Waiting.SPIN) {
                    Samples.record(lab, recorder, nio, spinning, Peers.nioEcho(SIZE, Waiting.SPIN));
                } else if (plan.operation() == BenchOperation.SEND && plan.waiting() == Waiting.SLEEP) {
                    Samples.record(lab, recorder, nio, sleeping, Peers.nioEcho(SIZE, Waiting.SLEEP));
                    Samples.record(lab, recorder, grpc, sleeping, Peers.grpcEcho(SIZE));
                }
                Samples.record(lab, recorder, engine, plan);
            }
        }
    }
}
