// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.client.Access;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import java.util.Locale;

/** Measures how long an application waits when it registers a new shared region, and when it fills the region. */
public final class RegionCosts {

    /** Registration: the sidecar provides the memory, and the application maps it. */
    public static final Subject REGISTER = subject("register");

    /** First fill: the application writes the whole region. */
    public static final Subject FIRST_FILL = subject("first fill");

    /** Second fill of the same region. */
    public static final Subject FILL = subject("fill");

    /** Deregistration, which also gives the memory back. */
    public static final Subject DEREGISTER = subject("deregister");

    private static final long OCTETS = 256L << 20;
    private static final double GIB = 1L << 30;
    private static final int REGIONS = 3;

    private RegionCosts() {}

    private static Subject subject(String operation) {
        return Subject.peer("sidecar", operation, OCTETS, "sleep");
    }

    static void measure(Lab lab, Recorder recorder, SidecarPair pair) {
        try (SidewarpClient client = pair.active().client();
                Session session = client.openSession("bench")) {
            for (int count = 0; count < REGIONS; count++) {
                long begin = System.nanoTime();
                SharedRegion region = session.createSharedRegion("region-" + count, OCTETS, Access.LOCAL_WRITE);
                long registered = System.nanoTime();
                region.segment().fill((byte) 1);
                long filled = System.nanoTime();
                region.segment().fill((byte) 2);
                long filledAgain = System.nanoTime();
                region.close();
                long deregistered = System.nanoTime();
                add(lab, recorder, REGISTER, registered - begin);
                add(lab, recorder, FIRST_FILL, filled - registered);
                add(lab, recorder, FILL, filledAgain - filled);
                add(lab, recorder, DEREGISTER, deregistered - filledAgain);
            }
        }
    }

    private static void add(Lab lab, Recorder recorder, Subject subject, long nanos) {
        double millis = nanos / 1e6 / (OCTETS / GIB);
        recorder.add(subject, Metric.MILLISECONDS_PER_GIB, millis);
        lab.progress().accept(String.format(Locale.ROOT, "%s a region: %.0f ms/GiB", subject.operation(), millis));
    }
}
