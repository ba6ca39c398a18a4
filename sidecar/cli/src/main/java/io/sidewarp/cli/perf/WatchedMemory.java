// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.client.SharedRegion;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The two slots of a latency test by RDMA Write: the peer writes the first, whose last octet is watched, and this side
 * sends the second. The first must be all zeros in the beginning, as new memory is; the peer may write it at any time.
 */
final class WatchedMemory {

    /** So long a waiting thread gives way to others only when there are any; then it sleeps between looks. */
    private static final long EAGER_NANOS = 200_000;

    private static final long PARK_NANOS = 20_000;

    private static final VarHandle OCTET = ValueLayout.JAVA_BYTE.varHandle();

    private final SharedRegion region;
    private final long watched;
    private final long prepared;
    private final boolean busyPoll;

    /** @param busyPoll never give up the processor while waiting */
    WatchedMemory(SharedRegion region, PerfPlan plan, boolean busyPoll) {
        this.region = region;
        this.busyPoll = busyPoll;
        watched = plan.slotOffset(0, 0) + plan.size() - 1;
        prepared = plan.slotOffset(0, 1) + plan.size() - 1;
    }

    /** Sets the last octet of what is going to be sent. */
    void prepare(byte sequence) {
        set(prepared, sequence);
    }

    /** Returns when the peer has written a message with this last octet. */
    @SuppressWarnings("ThreadPriorityCheck") // There is no event to wait for: memory changes without anybody's help.
    void await(byte sequence) throws InterruptedException {
        long begin = System.nanoTime();
        while ((byte) OCTET.getVolatile(region.segment(), watched) != sequence) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (busyPoll) {
                Thread.onSpinWait();
            } else if (System.nanoTime() - begin < EAGER_NANOS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(PARK_NANOS);
            }
        }
    }

    private void set(long offset, byte value) {
        OCTET.setVolatile(region.segment(), offset, value);
    }
}
