// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.rdmap.StreamError;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.transfer.Completions;
import io.sidewarp.v1.ConnectionStateChange;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the last connections of a session that were closed, and the data of any that may not have arrived until somebody is
 * told. Keeps nothing that takes memory by the length of their queues. Confined to the session's thread.
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
    /** Connections whose loss nobody was told of, and the first one's. */
    private int losses;

    private @Nullable StatusRuntimeException firstLoss;

    /**
     * One connection.
     *
     * @param end what its watchers were told at last
     * @param error what ended it, or null
     * @param loss why earlier data may not have arrived, or null
     * @param told whether a Disconnect has told the loss
     */
    private record Closed(
            ConnectionStateChange end,
            @Nullable StreamError error,
            @Nullable StatusRuntimeException loss,
            boolean told) {}

    /** Remembers a connection that is closed. */
    void add(SessionConnection connection, @Nullable StatusRuntimeException loss) {
        count++;
        closed.put(connection.id(), new Closed(connection.change(), connection.error(), loss, false));
    }

    /** Connections that were ever closed. */
    long count() {
        return count;
    }

    boolean knows(long id) {
        return closed.containsKey(id);
    }

    /** The last state change that watchers were told, or null for an unknown connection. */
    @Nullable
    ConnectionStateChange end(long id) {
        Closed connection = closed.get(id);
        return connection == null ? null : connection.end;
    }

    /** The status for work on a connection, or null for an unknown one. */
    @Nullable
    StatusRuntimeException ended(long id) {
        Closed connection = closed.get(id);
        return connection == null
                ? null
                : ApiError.closed(
                        connection.error,
                        "connection " + id + " has ended: " + connection.end.getMessage() + "; "
                                + Completions.remedy(connection.error));
    }

    /** The result of a graceful Disconnect: fails when earlier data may not have arrived. The end of the session does not repeat it. */
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
     * Ends with the session.
     *
     * @throws StatusRuntimeException when earlier data of a connection may not have arrived, and nobody was told
     */
    void end() {
        closed.values().forEach(this::keepLoss);
        StatusRuntimeException first = firstLoss;
        if (first != null) {
            throw losses == 1
                    ? first
                    : ApiError.withMessage(
                            first,
                            first.getStatus().getDescription() + "; the same holds for " + (losses - 1)
                                    + " more connections of the session");
        }
    }
}
