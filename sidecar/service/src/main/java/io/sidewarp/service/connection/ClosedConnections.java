// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.transfer.CompletionProtos;
import io.sidewarp.v1.ConnectionStateChange;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the most recently closed connections of a session. Keeps possible data loss of every closed connection
 * until a caller is told. Memory does not depend on the length of the connections' queues. Confined to the session's
 * thread.
 */
final class ClosedConnections {

    private static final int REMEMBERED = 64;

    private final Map<Long, Closed> closed = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Closed> eldest) {
            boolean forgotten = size() > REMEMBERED;
            if (forgotten) {
                keepLoss(eldest.getValue());
            }
            return forgotten;
        }
    };
    private long count;
    /** Number of connections whose data loss was not reported to any caller, and the first of these losses. */
    private int losses;

    private @Nullable StatusRuntimeException firstLoss;

    /**
     * One closed connection.
     *
     * @param end last state change that watchers received
     * @param error error that ended the connection, or null
     * @param loss reason why earlier data may not have arrived, or null
     * @param told true if a Disconnect call has reported the loss
     */
    private record Closed(
            ConnectionStateChange end,
            @Nullable StreamError error,
            @Nullable StatusRuntimeException loss,
            boolean told) {}

    /** Remembers a closed connection. */
    void add(SessionConnection connection, @Nullable StatusRuntimeException loss) {
        count++;
        closed.put(connection.id(), new Closed(connection.change(), connection.error(), loss, false));
    }

    /** Returns the number of connections that were closed so far. */
    long count() {
        return count;
    }

    boolean knows(long id) {
        return closed.containsKey(id);
    }

    /** Returns the last state change that watchers received, or null for an unknown connection. */
    @Nullable
    ConnectionStateChange end(long id) {
        Closed connection = closed.get(id);
        return connection == null ? null : connection.end;
    }

    /** Returns the status for work on a connection, or null for an unknown one. */
    @Nullable
    StatusRuntimeException ended(long id) {
        Closed connection = closed.get(id);
        return connection == null
                ? null
                : ApiError.closed(
                        connection.error,
                        "connection " + id + " has ended: " + connection.end.getMessage() + "; "
                                + CompletionProtos.remedy(connection.error));
    }

    /**
     * Returns the result of a graceful Disconnect, which fails if earlier data may not have arrived. The end of the
     * session does not report this loss again.
     */
    CompletableFuture<Void> disconnected(long id) {
        Closed connection = closed.get(id);
        if (connection == null || connection.loss == null) {
            return CompletableFuture.completedFuture(null);
        }
        closed.put(id, new Closed(connection.end, connection.error, connection.loss, true));
        return CompletableFuture.failedFuture(connection.loss);
    }

    private void keepLoss(Closed connection) {
        if (connection.loss != null && !connection.told) {
            losses++;
            if (firstLoss == null) {
                firstLoss = connection.loss;
            }
        }
    }

    /**
     * Reports losses at the end of the session.
     *
     * @throws StatusRuntimeException if earlier data of a connection may not have arrived and no caller was told
     */
    void end() {
        closed.values().forEach(this::keepLoss);
        if (firstLoss != null) {
            throw losses == 1
                    ? firstLoss
                    : ApiError.withMessage(
                            firstLoss,
                            firstLoss.getStatus().getDescription() + "; the same holds for " + (losses - 1)
                                    + " more connections of the session");
        }
    }
}
