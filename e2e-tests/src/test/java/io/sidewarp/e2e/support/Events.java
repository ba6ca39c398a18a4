// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.client.Connection;
import io.sidewarp.client.Session;
import io.sidewarp.client.SessionListener;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.RegionFault;
import io.sidewarp.v1.SharedReceiveQueueLimitReached;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Keeps the events of a session. */
public final class Events implements SessionListener {

    private final Map<Long, ConnectionStateChange> errors = new ConcurrentHashMap<>();
    private final List<RegionFault> faults = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Duration> draining = new CompletableFuture<>();

    private final CompletableFuture<SharedReceiveQueueLimitReached> limit = new CompletableFuture<>();

    private Events() {}

    public static Events of(Session session) {
        Events events = new Events();
        session.onEvent(events);
        return events;
    }

    @Override
    public void connectionChanged(ConnectionStateChange change) {
        if (change.hasError()) {
            errors.putIfAbsent(change.getConnection(), change);
        }
    }

    @Override
    public void regionFault(RegionFault fault) {
        faults.add(fault);
    }

    @Override
    public void sharedReceiveLimitReached(SharedReceiveQueueLimitReached event) {
        limit.complete(event);
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
    public RdmaError awaitError(Connection connection) {
        Patience.await("the application learns of the error of " + connection)
                .until(() -> errors.containsKey(connection.id()));
        return errors.get(connection.id()).getError();
    }

    public RegionFault awaitFault() {
        Patience.await("the application learns of the region's fault").until(() -> !faults.isEmpty());
        return faults.getFirst();
    }

    /** The first time that few receives were left. */
    public SharedReceiveQueueLimitReached awaitLimit() {
        return Patience.get(limit);
    }

    /** The time that a stopping sidecar gives to what is under way. */
    public Duration awaitDraining() {
        return Patience.get(draining);
    }
}
