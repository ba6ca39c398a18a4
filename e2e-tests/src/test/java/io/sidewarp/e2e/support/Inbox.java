// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;

/** A connection whose receives are posted before it is connected or accepted, and the messages that fill them. */
public final class Inbox implements AutoCloseable {

    private final Connection connection;
    private final WorkQueue queue;

    private Inbox(Connection connection, WorkQueue queue) {
        this.connection = connection;
        this.queue = queue;
    }

    /** @param receives the first one has the id 0, and so on */
    public static Inbox of(Session session, ConnectionOptions options, Sge... receives) {
        Connection connection = session.createConnection(options);
        WorkQueue queue = session.openQueue(receives.length + 1);
        for (int i = 0; i < receives.length; i++) {
            queue.post(i, WorkRequest.receive(connection, receives[i]));
        }
        return new Inbox(connection, queue);
    }

    public static Inbox of(Session session, Sge... receives) {
        return of(session, ConnectionOptions.defaults(), receives);
    }

    /** For connect or accept. */
    public Connection connection() {
        return connection;
    }

    /** The queue of the receives. */
    public WorkQueue queue() {
        return queue;
    }

    /** The next message. */
    public WorkCompletion receive() {
        return queue.poll(Patience.LIMIT)
                .orElseThrow(() -> new AssertionError("no message came"))
                .orThrow();
    }

    /** Ends the queue; the connection stays. */
    @Override
    public void close() {
        queue.close();
    }
}
