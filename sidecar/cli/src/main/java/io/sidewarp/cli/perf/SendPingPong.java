// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.wire.ReceivesFirst;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;

/** Sends one message there and one back in turn. The latency is half of the round trip. */
final class SendPingPong extends Driver {

    /** Number of posted receives, so that one is available while another is posted again. */
    static final int RECEIVES = 4;

    static final long RECEIVE_ID = 1;
    static final long SEND_ID = 2;

    private final WorkQueue queue;
    private final WorkRequest send;
    private final WorkRequest receive;
    private long postedAt;

    SendPingPong(WorkQueue queue, WorkRequest send, WorkRequest receive) {
        this.queue = queue;
        this.send = send;
        this.receive = receive;
    }

    /** Posts the receives for the first messages. */
    static void postReceives(WorkQueue queue, WorkRequest receive) {
        for (int i = 0; i < RECEIVES; i++) {
            ReceivesFirst.post(queue, RECEIVE_ID, receive);
        }
    }

    @Override
    synchronized void start() {
        postedAt = System.nanoTime();
        queue.post(SEND_ID, send);
    }

    @Override
    synchronized void completed(long id) {
        if (finished().isDone() || id != RECEIVE_ID) {
            return;
        }
        long now = System.nanoTime();
        count(1, (now - postedAt) / 2);
        if (isStopping()) {
            finish();
            return;
        }
        postedAt = System.nanoTime();
        queue.tryPost(RECEIVE_ID, receive);
        queue.tryPost(SEND_ID, send);
    }
}
