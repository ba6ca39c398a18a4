// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionEvent;
import io.sidewarp.client.RdmaErrorInfo;
import io.sidewarp.client.Session;
import io.sidewarp.client.SessionListener;
import io.sidewarp.client.SidewarpException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Keeps the events of a session. */
public final class Events implements SessionListener {

    private final Map<Long, RdmaErrorInfo> errors = new ConcurrentHashMap<>();
    private final List<Fault> faults = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Duration> draining = new CompletableFuture<>();

    private final CompletableFuture<Long> limit = new CompletableFuture<>();

    /** A region whose backing failed, and what happened. */
    public record Fault(long region, String message) {}

    private Events() {}

    public static Events of(Session session) {
        Events events = new Events();
        session.onEvent(events);
        return events;
    }

    @Override
    public void connectionChanged(ConnectionEvent event) {
        event.error().ifPresent(error -> errors.putIfAbsent(event.connection(), error));
    }

    @Override
    public void regionFault(long region, String message) {
        faults.add(new Fault(region, message));
    }

    @Override
    public void sharedReceiveLimitReached(long queue, int armed) {
        limit.complete(queue);
    }

    @Override
    public void draining(Duration grace) {
        draining.complete(grace);
    }

    @Override
    public void lost(SidewarpException cause) {
        draining.completeExceptionally(cause);
        limit.completeExceptionally(cause);
    }

    /** The error that ended a connection. */
    public RdmaErrorInfo awaitError(Connection connection) {
        Patience.await("the application learns of the error of " + connection)
                .until(() -> errors.containsKey(connection.id()));
        return errors.get(connection.id());
    }

    public Fault awaitFault() {
        Patience.await("the application learns of the region's fault").until(() -> !faults.isEmpty());
        return faults.getFirst();
    }

    /** Returns the number of the first shared receive queue of which few receives were left. */
    public long awaitLimit() {
        return Patience.get(limit);
    }

    /** The time that a stopping sidecar gives to what is under way. */
    public Duration awaitDraining() {
        return Patience.get(draining);
    }
}
