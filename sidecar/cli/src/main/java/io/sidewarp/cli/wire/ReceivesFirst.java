// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.QueuePath;
import io.sidewarp.client.Session;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/** Sets up connections whose receives are posted before their peers can send. */
public final class ReceivesFirst {

    private ReceivesFirst() {}

    /**
     * Sets up a connection with its own queue over gRPC.
     *
     * @param outstanding number of requests that the queue must take
     * @see #open(Session, ConnectionOptions, QueueOptions, BiFunction, Consumer)
     */
    public static <T> T open(
            Session session,
            ConnectionOptions options,
            int outstanding,
            BiFunction<Connection, WorkQueue, T> begin,
            Consumer<Connection> establish) {
        QueueOptions queueOptions =
                QueueOptions.defaults().withPath(QueuePath.GRPC).withOutstanding(outstanding);
        return open(session, options, queueOptions, begin, establish);
    }

    /**
     * Sets up a connection with its own queue.
     *
     * @param begin posts receives, and creates the user of the connection
     * @param establish passes the connection to connect or accept
     */
    public static <T> T open(
            Session session,
            ConnectionOptions options,
            QueueOptions queueOptions,
            BiFunction<Connection, WorkQueue, T> begin,
            Consumer<Connection> establish) {
        Connection connection = session.createConnection(options);
        try {
            WorkQueue queue = session.openQueue(queueOptions);
            try {
                T user = begin.apply(connection, queue);
                establish.accept(connection);
                return user;
            } catch (RuntimeException e) {
                queue.close();
                throw e;
            }
        } catch (RuntimeException e) {
            ConnectionEnd.abort(connection);
            throw e;
        }
    }

    /**
     * Posts a receive.
     *
     * @throws Failure when the queue has too few credits; a wait for credits would last forever
     */
    public static void post(WorkQueue queue, long id, WorkRequest receive) {
        if (!queue.tryPost(id, receive)) {
            throw new Failure(
                    ExitCode.NO_RESOURCES,
                    "the sidecar grants " + queue.credits()
                            + " work requests at a time, too few for the receives (its setting"
                            + " sidewarp.limits.queue-outstanding); raise it, or use fewer messages or connections");
        }
    }
}
