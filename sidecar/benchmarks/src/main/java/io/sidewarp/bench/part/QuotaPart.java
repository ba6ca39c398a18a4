// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.Operation;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.process.CpuQuota;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import java.util.List;
import java.util.Optional;

/**
 * Between two applications on all processors, without a quota of processor time and with one for each end, application and
 * sidecar together, as pods with a CPU limit have it. Beside grpc-java, which gets the same.
 */
public final class QuotaPart implements PartRunner {

    /** Processors' time for each end. */
    public static final double QUOTA = 1;

    /** What streams. */
    public static final ThroughputPart.Step STEP = new ThroughputPart.Step(64 << 10, 16);

    /** What goes there and back. */
    public static final int SIZE = LatencyPart.SIZE;

    /** How often the quota of the end that asks was used up, the sidecar's warming up included. */
    public static final Subject USE = Subject.peer("quota", "use", 0, "sleep");

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        measure(lab.at(Place.ANYWHERE, Place.ANYWHERE), recorder);
        try (CpuQuota active = CpuQuota.create("active", QUOTA);
                CpuQuota passive = CpuQuota.create("passive", QUOTA)) {
            measure(lab.at(Place.within(active), Place.within(passive)), recorder.under(QUOTA));
        }
    }

    private static void measure(Lab lab, Recorder recorder) {
        TransferPlan echo = TransferPlan.pingPong(Operation.SEND, SIZE, Waiting.SLEEP);
        TransferPlan stream = Samples.peerStream(STEP.size());
        try (EndPair grpc = lab.start(EndKind.GRPC, List.of(echo, stream))) {
            Samples.record(lab, recorder, grpc, stream, Peers.grpcStream(STEP.size()));
            Samples.record(lab, recorder, grpc, echo, Peers.grpcEcho(SIZE));
        }
        Optional<CpuQuota> quota = lab.active().quota();
        Optional<CpuQuota.Use> before = quota.map(CpuQuota::use);
        try (SidecarPair sidecars = lab.startSidecars("tcp")) {
            SidecarTests.settle(lab, sidecars, List.of(STEP), List.of(SIZE));
            SidecarTests.stream(lab, recorder, sidecars, STEP);
            SidecarTests.pingPong(lab, recorder, sidecars, List.of(SIZE));
            before.ifPresent(use -> recorder.add(
                    USE,
                    Metric.THROTTLED_PERCENT,
                    quota.orElseThrow().use().since(use).throttledPercent()));
        }
    }
}
