// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import static io.sidewarp.service.testing.Works.receive;
import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.write;

import io.sidewarp.ring.RingLayout;
import io.sidewarp.service.testing.TestRings;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.WorkCompletion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** Two sessions without an attacker. Their connection and their rings must work whatever other sessions do. */
final class Canary implements AutoCloseable {

    private static final int ENTRIES = 16;
    private static final int LENGTH = 64;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final TestSession here;
    private final TestSession there;
    private final TestRings sends;
    private final TestRings receives;
    private final Region source;
    private final Region target;
    private final Region inbox;
    private final GuardedRegion guard;
    private final long connection;
    private final long accepted;
    private int checks;

    Canary(TestSidecar sidecar) {
        here = sidecar.session("canary");
        there = sidecar.session("canary");
        sends = new TestRings(sidecar, here, ENTRIES);
        receives = new TestRings(sidecar, there, ENTRIES);
        source = here.managed(LENGTH);
        target = there.managed(LENGTH, Access.ACCESS_REMOTE_WRITE);
        inbox = there.managed(LENGTH, Access.ACCESS_LOCAL_WRITE);
        guard = new GuardedRegion(
                sidecar, there, "canary", false, Access.ACCESS_REMOTE_WRITE, Access.ACCESS_LOCAL_WRITE);
        TestSession.Pair pair = here.connectTo(there);
        connection = pair.here().getId();
        accepted = pair.there().getId();
    }

    /** Returns a region that nothing may write to, for others to name. */
    Region guard() {
        return guard.region();
    }

    long connection() {
        return connection;
    }

    /** Returns how many sessions, and files of rings, there are without others. */
    static int sessions() {
        return 2;
    }

    static int files() {
        return 6;
    }

    /** Calls the sidecar, and moves data by rings. */
    void check() {
        long begin = System.nanoTime();
        if (here.listConnections().size() != 1) {
            throw new AssertionError("the canary's connection is gone");
        }
        byte[] data = {(byte) ++checks, (byte) (checks >> 8), 3};
        here.store(source.getId(), 0, data, LENGTH);
        receives.post(receive(1, accepted, inbox, 0, LENGTH).build());
        sends.post(
                write(2, connection, source, target, data.length).build(),
                send(3, connection, source, data.length).build());
        expect(sends, 2);
        expect(sends, 3);
        expect(receives, 1);
        for (Region region : new Region[] {target, inbox}) {
            if (!Arrays.equals(there.load(region.getId(), 0, data.length), data)) {
                throw new AssertionError("the canary's data did not arrive");
            }
        }
        long nanos = System.nanoTime() - begin;
        if (nanos > PATIENCE_NANOS) {
            throw new AssertionError("the canary took " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms");
        }
        guard.check();
    }

    private void expect(TestRings rings, long id) {
        WorkCompletion completion;
        try {
            completion = rings.next();
        } catch (AssertionError e) {
            throw new AssertionError(
                    "the canary waits for completion " + id + "; send ring: "
                            + text(sends.sends().file()) + "; its completions: "
                            + text(sends.completions().file()) + "; receive ring: "
                            + text(receives.receives().file()) + "; its completions: "
                            + text(receives.completions().file()),
                    e);
        }
        if (completion.getId() != id || completion.getStatus() != CompletionStatus.COMPLETION_STATUS_SUCCESS) {
            throw new AssertionError("the canary expected completion " + id + ", and got " + completion);
        }
    }

    private static String text(MemorySegment file) {
        return "consumed " + file.get(ValueLayout.JAVA_LONG, RingLayout.CONSUMED_OFFSET) + ", producer_waits "
                + file.get(ValueLayout.JAVA_INT, RingLayout.PRODUCER_WAITS_OFFSET) + ", consumer_waits "
                + file.get(ValueLayout.JAVA_INT, RingLayout.CONSUMER_WAITS_OFFSET) + ", state "
                + file.get(ValueLayout.JAVA_INT, RingLayout.STATE_OFFSET);
    }

    @Override
    public void close() {
        sends.close();
        receives.close();
        here.close();
        there.close();
        guard.close();
    }
}
