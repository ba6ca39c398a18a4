// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.wire.Connector;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;

/** Either end of a test that sends one message there and one back in turn. The latency is half of the round trip. */
final class SendRoundTrips extends DataEnd {

    /** Number of posted receives, so that one is available while another is posted again. */
    static final int RECEIVES = 4;

    private static final long RECEIVE_ID = 1;
    private static final long SEND_ID = 2;

    private final WorkRequest send;
    private final WorkRequest receive;
    private final boolean first;
    private long postedAt;

    /** @param first whether this end sends first, and measures */
    SendRoundTrips(WorkQueue queue, WorkRequest send, WorkRequest receive, boolean first) {
        super(queue);
        this.send = send;
        this.receive = receive;
        this.first = first;
    }

    @Override
    void postReceives() {
        for (int i = 0; i < RECEIVES; i++) {
            Connector.postReceive(queue, RECEIVE_ID, receive);
        }
    }

    @Override
    synchronized void start() {
        if (first) {
            postedAt = System.nanoTime();
            post(SEND_ID, send);
        }
    }

    @Override
    synchronized void completed(long id) {
        if (finished().isDone() || id != RECEIVE_ID) {
            return;
        }
        if (first) {
            count(1, (System.nanoTime() - postedAt) / 2);
            if (isStopping()) {
                finish();
                return;
            }
            postedAt = System.nanoTime();
        } else {
            count(1);
        }
        post(RECEIVE_ID, receive);
        post(SEND_ID, send);
    }
}
