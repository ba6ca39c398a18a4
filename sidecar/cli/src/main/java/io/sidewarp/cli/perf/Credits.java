// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.wire.Connector;
import io.sidewarp.client.Connection;
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
    private final ByteBuffer messages;
    private long allowed;

    /**
     * @param index number of the connection in its test
     * @param initial number of messages for which the receiver has room at first
     */
    Credits(WorkQueue queue, Connection connection, PerfMemory memory, int index, long initial) {
        this.queue = queue;
        allowed = initial;
        messages = memory.credits(index);
        for (int slot = 0; slot < receives.length; slot++) {
            receives[slot] = WorkRequest.receive(connection, memory.creditSlot(index, slot));
        }
    }

    /** Posts the receives for the first credit messages. */
    void postReceives() {
        for (int slot = 0; slot < receives.length; slot++) {
            Connector.postReceive(queue, ID + slot, receives[slot]);
        }
    }

    static boolean isCredit(long id) {
        return id >= ID;
    }

    /** Takes a credit message. Returns its receive, to be posted again. */
    WorkRequest arrived(long id) {
        int slot = (int) (id - ID);
        allowed = Math.max(allowed, messages.getLong(slot * PerfPlan.CREDIT_LENGTH));
        return receives[slot];
    }

    /** Returns whether the receiver has room for this many messages since the beginning. */
    boolean allow(long count) {
        return count <= allowed;
    }
}
