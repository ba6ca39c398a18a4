// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.process.CpuQuota;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.client.QueuePath;
import java.util.List;
import java.util.Optional;

/**
 * Measures two applications over rings, on all processors, without and with a quota of processor time. With a quota,
 * application and sidecar of an end share it, as in a pod with a CPU limit.
 */
public final class Quotas {

    /** Processor time of each end, in processors. */
    public static final double QUOTA = 1;

    /** Size and depth of the streams. */
    public static final ThroughputPart.Step STEP = new ThroughputPart.Step(64 << 10, 16);

    /** Bytes of a message of the round trips. */
    public static final int SIZE = LatencyPart.SIZE;

    /** Name of the variant without a quota. */
    public static final String FREE = "on all processors";

    /** Use of the quota of the end that asks, including the warm-up of its sidecar. */
    public static final Subject USE = Subject.peer("quota", "use", 0, "yield").withQuota(QUOTA);

    private Quotas() {}

    static void measure(Lab lab, Recorder recorder) {
        Optional<String> obstacle = CpuQuota.obstacle();
        if (obstacle.isPresent()) {
            lab.progress().accept("the quota is left out: " + obstacle.get());
            return;
        }
        measureApplications(lab.at(Place.ANYWHERE, Place.ANYWHERE).saying("no quota: "), recorder.with(FREE));
        try (CpuQuota active = CpuQuota.create("active", QUOTA);
                CpuQuota passive = CpuQuota.create("passive", QUOTA)) {
            measureApplications(
                    lab.at(Place.within(active), Place.within(passive)).saying("quota: "), recorder.under(QUOTA));
            recorder.add(USE, Metric.THROTTLED_PERCENT, active.use().throttledPercent());
        }
    }

    private static void measureApplications(Lab lab, Recorder recorder) {
        try (SidecarPair pair = lab.startSidecars(QueuePath.RINGS)) {
            SidecarTests.settle(lab, pair, List.of(STEP), List.of(SIZE));
            SidecarTests.stream(lab, recorder, pair, STEP);
            SidecarTests.pingPong(lab, recorder, pair, List.of(SIZE));
        }
    }
}
