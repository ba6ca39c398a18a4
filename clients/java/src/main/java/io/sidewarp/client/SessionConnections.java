// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.ListConnectionsRequest;
import io.sidewarp.v1.ListConnectionsResponse;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The connections of a session, and the events that report their changes. */
final class SessionConnections {

    private static final System.Logger LOG = System.getLogger(SessionConnections.class.getName());

    /**
     * Maximum number of state changes kept for connections whose set-up call is not answered yet. The oldest are
     * dropped.
     */
    private static final int EARLY_EVENTS = 256;

    private final GrpcSession session;
    private final SessionTraffic traffic;
    private final Map<Long, GrpcConnection> open = new ConcurrentHashMap<>();

    /** Latest events of connections that are not known yet. Guarded by itself. */
    private final Map<Long, ConnectionEvent> early = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, ConnectionEvent> eldest) {
            return size() > EARLY_EVENTS;
        }
    };

    /** Connections whose data was not confirmed when the session ended. */
    private volatile List<GrpcConnection> unconfirmed = List.of();

    SessionConnections(GrpcSession session, SessionTraffic traffic) {
        this.session = session;
        this.traffic = traffic;
    }

    List<ConnectionInfo> list() {
        return CallFuture.await(startListing()).getConnectionsList().stream()
                .map(Descriptions::connection)
                .toList();
    }

    private CallFuture<ListConnectionsResponse> startListing() {
        return session.start(
                ConnectionServiceGrpc.getListConnectionsMethod(),
                ListConnectionsRequest.newBuilder().setSession(session.id()).build(),
                session.timeLimited());
    }

    /** Adds a connection that the sidecar has described. */
    GrpcConnection adopt(io.sidewarp.v1.Connection description, ConnectionOptions options) {
        GrpcConnection connection =
                new GrpcConnection(session, description, options, traffic.adopt(description.getId()));
        ConnectionEvent event;
        synchronized (early) {
            open.put(connection.id(), connection);
            event = early.remove(connection.id());
        }
        session.failAtEnd(connection.failure());
        if (event != null) {
            // The last event makes the session forget the connection.
            deliver(connection, event);
        }
        return connection;
    }

    /** Passes an event to its connection. */
    void onEvent(ConnectionEvent event) {
        GrpcConnection connection;
        synchronized (early) {
            connection = open.get(event.connection());
            if (connection == null) {
                early.put(event.connection(), event);
                return;
            }
        }
        deliver(connection, event);
    }

    private void deliver(GrpcConnection connection, ConnectionEvent event) {
        if (event.state() == Connection.State.CLOSED) {
            open.remove(connection.id());
            traffic.forget(connection.id());
            session.forget(connection.failure());
        }
        connection.onEvent(event);
    }

    /**
     * Looks for connections that have closed after events were lost, because their last events may be among them.
     *
     * @param closed takes the number of each closed connection
     */
    void findClosed(LongConsumer closed) {
        Set<Long> known = Set.copyOf(open.keySet());
        if (session.isEnded() || known.isEmpty()) {
            return;
        }
        startListing().whenComplete((response, failure) -> {
            if (failure != null) {
                LOG.log(Level.WARNING, "events of session \"" + session.name() + "\" were lost", failure);
                return;
            }
            Set<Long> listed = response.getConnectionsList().stream()
                    .map(io.sidewarp.v1.Connection::getId)
                    .collect(Collectors.toSet());
            known.stream().filter(id -> !listed.contains(id)).forEach(id -> {
                GrpcConnection connection = open.get(id);
                if (connection != null) {
                    connection.loseEnd();
                    closed.accept(id);
                }
            });
        });
    }

    /**
     * Disconnects the connections that were used on queues, because CloseSession could overtake their posts.
     *
     * @return the reason why earlier data may not have arrived, or null
     */
    @Nullable
    SidewarpException disconnectBehindQueues(Duration grace) {
        CompletableFuture<?>[] ends = open.values().stream()
                .filter(GrpcConnection::hasPosts)
                .map(GrpcConnection::disconnectAsync)
                .toArray(CompletableFuture[]::new);
        try {
            CompletableFuture.allOf(ends).get(Durations.nanos(grace), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException e) {
            // CloseSession aborts the remaining connections, and reports unconfirmed data.
        } catch (ExecutionException e) {
            // CloseSession reports the outcome of a connection that is gone.
            return e.getCause() instanceof SidewarpException failure
                            && failure.code() != Status.Code.NOT_FOUND
                            && !session.isEnded()
                    ? failure
                    : null;
        }
        return null;
    }

    /** Records that the sidecar has reported the outcome of all data. */
    void takeLosses() {
        open.values().forEach(GrpcConnection::takeLoss);
    }

    /** Keeps the connections for {@link #takeLossAtEnd}, when the session ends. */
    void keepUnconfirmed() {
        unconfirmed = List.copyOf(open.values());
    }

    void clear() {
        open.clear();
    }

    /** Returns true once, if earlier data of an ended session may not have arrived and nobody was told. */
    boolean takeLossAtEnd() {
        return unconfirmed.stream().anyMatch(GrpcConnection::takeLoss);
    }
}
