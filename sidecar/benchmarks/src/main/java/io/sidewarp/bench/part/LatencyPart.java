// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.Operation;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.result.Recorder;
import java.util.List;

/**
 * Messages of 8 octets, one at a time. Half of the way there and back, except of a Read, which is timed from posting to
 * completion. Who watches memory cannot sleep; who takes completions can.
 */
public final class LatencyPart implements PartRunner {

    /** Octets of a message. */
    public static final int SIZE = 8;

    /** What the engine is measured with. */
    public static final List<TransferPlan> PLANS = List.of(
            TransferPlan.pingPong(Operation.WRITE, SIZE, Waiting.SPIN),
            TransferPlan.pingPong(Operation.SEND, SIZE, Waiting.SPIN),
            TransferPlan.pingPong(Operation.READ, SIZE, Waiting.SPIN),
            TransferPlan.pingPong(Operation.SEND, SIZE, Waiting.SLEEP),
            TransferPlan.pingPong(Operation.READ, SIZE, Waiting.SLEEP),
            TransferPlan.pingPong(Operation.SEND, SIZE, Waiting.ADAPTIVE),
            TransferPlan.pingPong(Operation.READ, SIZE, Waiting.ADAPTIVE),
            TransferPlan.pingPong(Operation.WRITE, SIZE, Waiting.YIELD));

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        TransferPlan spinning = TransferPlan.pingPong(Operation.SEND, SIZE, Waiting.SPIN);
        TransferPlan sleeping = spinning.withWaiting(Waiting.SLEEP);
        try (EndPair nio = lab.start(EndKind.NIO, List.of(spinning, sleeping));
                EndPair grpc = lab.start(EndKind.GRPC, List.of(sleeping));
                EndPair engine = lab.start(EndKind.ENGINE, PLANS)) {
            for (TransferPlan plan : PLANS) {
                if (plan.operation() == Operation.WRITE && plan.waiting() == Waiting.SPIN) {
                    Samples.record(lab, recorder, nio, spinning, Peers.nioEcho(SIZE, Waiting.SPIN));
                } else if (plan.operation() == Operation.SEND && plan.waiting() == Waiting.SLEEP) {
                    Samples.record(lab, recorder, nio, sleeping, Peers.nioEcho(SIZE, Waiting.SLEEP));
                    Samples.record(lab, recorder, grpc, sleeping, Peers.grpcEcho(SIZE));
                }
                Samples.record(lab, recorder, engine, plan);
            }
        }
    }
}
