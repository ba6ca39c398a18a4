// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.wire.Connector;
import io.sidewarp.client.Connection;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.nio.ByteBuffer;

/** The server of a send test. Takes Sends as fast as they come, and tells the sender how much room there is. */
final class SendSink extends DataEnd {

    private static final long CREDIT_ID = 1L << 40;

    private final WorkRequest[] receives;
    private final WorkRequest[] creditSends = new WorkRequest[PerfPlan.CREDIT_SLOTS];
    private final ByteBuffer credits;
    private final int period;
    private int nextCredit;

    /**
     * @param index number of the connection in its test
     * @param receiveCount number of receives that are posted
     */
    SendSink(WorkQueue queue, Connection connection, PerfMemory memory, int index, int receiveCount) {
        super(queue);
        credits = memory.credits(index);
        receives = new WorkRequest[receiveCount];
        for (int i = 0; i < receiveCount; i++) {
            receives[i] = WorkRequest.receive(connection, memory.slot(index, i));
        }
        for (int slot = 0; slot < creditSends.length; slot++) {
            creditSends[slot] = WorkRequest.send(connection, memory.creditSlot(index, slot));
        }
        period = Math.max(1, receiveCount / 4);
    }

    @Override
    void postReceives() {
        queue.batch(_ -> {
            for (int i = 0; i < receives.length; i++) {
                Connector.postReceive(queue, i, receives[i]);
            }
        });
    }

    @Override
    void completed(long id) {
        if (id >= CREDIT_ID) {
            return;
        }
        count(1);
        post(id, receives[(int) id]);
        if (messages() % period == 0) {
            int slot = nextCredit;
            nextCredit = (slot + 1) % creditSends.length;
            credits.putLong(slot * PerfPlan.CREDIT_LENGTH, messages() + receives.length);
            post(CREDIT_ID + slot, creditSends[slot]);
        }
    }
}
