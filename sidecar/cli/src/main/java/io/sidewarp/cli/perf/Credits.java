// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.wire.ReceivesFirst;
import io.sidewarp.client.Connection;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.nio.ByteBuffer;

/**
 * Flow control at the sender of a send test. The receiver sends, in 8 bytes, for how many messages it has had room
 * since the beginning. A Send that finds no receive would end the connection (RFC 5041 section 7.1).
 */
final class Credits {

    private static final long ID = 1L << 40;

    private final WorkQueue queue;
    private final WorkRequest[] receives = new WorkRequest[PerfPlan.CREDIT_SLOTS];
    private final ByteBuffer memory;
    private long allowed;

    /**
     * @param tail offset of the connection's tail in the region
     * @param initial number of messages for which the receiver has room at first
     */
    Credits(WorkQueue queue, Connection connection, SharedRegion region, long tail, long initial) {
        this.queue = queue;
        allowed = initial;
        memory = region.buffer(tail + PerfPlan.CREDIT_OFFSET, PerfPlan.CREDIT_SLOTS * PerfPlan.CREDIT_LENGTH);
        for (int slot = 0; slot < receives.length; slot++) {
            receives[slot] = WorkRequest.receive(connection, slice(region, tail, slot));
        }
    }

    /** Posts the receives for the first credit messages. */
    void postReceives() {
        for (int slot = 0; slot < receives.length; slot++) {
            ReceivesFirst.post(queue, ID + slot, receives[slot]);
        }
    }

    static boolean isCredit(long id) {
        return id >= ID;
    }

    /** Takes a credit message, and posts its receive again. */
    void arrived(long id) {
        int slot = (int) (id - ID);
        allowed = Math.max(allowed, memory.getLong(slot * PerfPlan.CREDIT_LENGTH));
        if (!queue.tryPost(id, receives[slot])) {
            throw new Failure(
                    ExitCode.NO_RESOURCES,
                    "the sidecar grants " + queue.credits() + " work requests at a time: use a lower --depth");
        }
    }

    /** Returns whether the receiver has room for this many messages since the beginning. */
    boolean allow(long messages) {
        return messages <= allowed;
    }

    private static Sge slice(SharedRegion region, long tail, int slot) {
        return region.slice(
                tail + PerfPlan.CREDIT_OFFSET + (long) slot * PerfPlan.CREDIT_LENGTH, PerfPlan.CREDIT_LENGTH);
    }
}
