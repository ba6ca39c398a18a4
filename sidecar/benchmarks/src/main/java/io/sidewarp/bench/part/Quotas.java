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
 * Between two applications over rings, on all processors: without a quota of processor time, and with one for each end,
 * application and sidecar together, as pods with a CPU limit have it.
 */
public final class Quotas {

    /** Processors' time for each end. */
    public static final double QUOTA = 1;

    /** What streams. */
    public static final ThroughputPart.Step STEP = new ThroughputPart.Step(64 << 10, 16);

    /** What goes there and back. */
    public static final int SIZE = LatencyPart.SIZE;

    /** The variant without a quota. */
    public static final String FREE = "on all processors";

    /** How often the quota of the end that asks was used up, the sidecar's warming up included. */
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
