// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.Operation;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Recorder;
import java.util.List;

/**
 * Between two applications through two sidecars: work through the gRPC queue, payload in shared regions, CRC on. Beside
 * iperf3, grpc-java and bare TCP, as between engines.
 */
public final class ApplicationPart implements PartRunner {

    private static final int KIB64 = 64 << 10;
    private static final int MIB = 1 << 20;

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        TransferPlan echo = TransferPlan.pingPong(Operation.SEND, LatencyPart.SIZE, Waiting.SLEEP);
        TransferPlan large = Samples.peerStream(MIB);
        TransferPlan middle = Samples.peerStream(KIB64);
        try (EndPair nio = lab.start(EndKind.NIO, List.of(echo));
                EndPair grpc = lab.start(EndKind.GRPC, List.of(large, middle, echo));
                EndPair line = lab.start(EndKind.LINE, List.of());
                SidecarPair sidecars = lab.startSidecars("tcp")) {
            SidecarTests.settle(lab, sidecars);
            for (ThroughputPart.Step step : SidecarTests.STEPS) {
                if (step.size() == KIB64) {
                    List.of(IperfKind.values()).forEach(kind -> Samples.iperf(lab, recorder, kind));
                    Samples.record(lab, recorder, grpc, middle, Peers.grpcStream(KIB64));
                } else if (step.size() == MIB) {
                    Samples.record(lab, recorder, grpc, large, Peers.grpcStream(MIB));
                }
                Samples.distance(lab, recorder, line);
                if (!lab.quick() || step.size() >= KIB64) {
                    SidecarTests.stream(lab, recorder, sidecars, step);
                }
            }
            Samples.record(lab, recorder, nio, echo, Peers.nioEcho(LatencyPart.SIZE, Waiting.SLEEP));
            Samples.record(lab, recorder, grpc, echo, Peers.grpcEcho(LatencyPart.SIZE));
            SidecarTests.pingPong(
                    lab, recorder, sidecars, lab.quick() ? List.of(LatencyPart.SIZE) : SidecarTests.LATENCY_SIZES);
        }
    }
}
