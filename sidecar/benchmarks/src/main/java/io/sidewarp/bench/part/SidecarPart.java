// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.process.SidecarProcess;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.client.Access;
import io.sidewarp.client.QueuePath;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import java.time.Duration;
import java.util.Map;

/**
 * Measures a sidecar on all processors: time to ready, resident memory when idle and after load, and how long an
 * application waits for a new shared region.
 */
final class SidecarPart {

    private static final String SIDECAR = "sidecar";

    /** Time after which a started process has settled. */
    private static final Duration SETTLING = Duration.ofSeconds(1);

    private static final long REGION = 256L << 20;
    private static final int REGIONS = 3;
    private static final double GIB = 1L << 30;

    private SidecarPart() {}

    static void repeat(Lab lab) {
        try (SidecarProcess sidecar = new SidecarProcess(lab.build(), "idle", Place.ANYWHERE, lab.directory())) {
            Lab.pause(SETTLING);
            Map<Metric, Double> figures =
                    Map.of(Metric.READY_MILLISECONDS, sidecar.readyNanos() / 1e6, Metric.RESIDENT_MIB, mib(sidecar));
            record(lab, "idle", figures);
        }
        try (SidecarPair pair = lab.at(Place.ANYWHERE, Place.ANYWHERE).applications("tcp", QueuePath.RINGS)) {
            pair.measure(
                    Plans.LARGE.application(Operation.WRITE),
                    lab.time(),
                    lab.time().multipliedBy(2));
            record(lab, "after writes of 1 MiB", Map.of(Metric.RESIDENT_MIB, mib(pair.active())));
            regions(lab, pair.active());
        }
    }

    private static double mib(SidecarProcess sidecar) {
        return (double) sidecar.residentOctets() / Plans.MIB;
    }

    /** Measures how long an application waits when it registers a new shared region, and when it fills the region. */
    private static void regions(Lab lab, SidecarProcess sidecar) {
        try (SidewarpClient client = sidecar.client();
                Session session = client.openSession("bench")) {
            for (int count = 0; count < REGIONS; count++) {
                long begin = System.nanoTime();
                SharedRegion region = session.createSharedRegion("region-" + count, REGION, Access.LOCAL_WRITE);
                long registered = System.nanoTime();
                region.segment().fill((byte) 1);
                long filled = System.nanoTime();
                region.segment().fill((byte) 2);
                long filledAgain = System.nanoTime();
                region.close();
                long deregistered = System.nanoTime();
                add(lab, "registers a region", registered - begin);
                add(lab, "fills it for the first time", filled - registered);
                add(lab, "fills it again", filledAgain - filled);
                add(lab, "deregisters it", deregistered - filledAgain);
            }
        }
    }

    private static void add(Lab lab, String operation, long nanos) {
        Map<Metric, Double> figures = Map.of(Metric.MILLISECONDS_PER_GIB, nanos / 1e6 / (REGION / GIB));
        lab.record("regions", false, Subject.of("application", operation), figures);
    }

    private static void record(Lab lab, String state, Map<Metric, Double> figures) {
        lab.record(SIDECAR, false, Subject.of(SIDECAR, state), figures);
    }
}
