// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import com.google.protobuf.Duration;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.common.LogText;
import io.sidewarp.service.connection.SessionConnections;
import io.sidewarp.service.connection.SessionListeners;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.memory.SessionMemory;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.transfer.SessionRings;
import io.sidewarp.service.transfer.SessionTransfers;
import io.sidewarp.service.transfer.SharedReceiveQueues;
import io.sidewarp.v1.Draining;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.SessionInfo;
import io.sidewarp.v1.SessionOpened;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A session and its parts. One event loop owns it: the loop of the transport on which it was opened. Only this loop
 * reads and changes its state, so no locks are needed.
 */
public final class SidecarSession {

    private static final Logger LOG = Logger.getLogger(SidecarSession.class);

    /** Minimum time for the connections to close, after the entries of rings were taken. */
    private static final java.time.Duration LEAST_CLOSE = java.time.Duration.ofMillis(500);

    private final String token;
    private final SessionContext context;
    private final EventStream events;
    private final SessionMemory memory;
    private final SharedReceiveQueues sharedReceives;
    private final SessionConnections connections;
    private final SessionListeners listeners;
    private final SessionTransfers transfers;
    private final SessionRings rings;
    private @Nullable CompletableFuture<Void> released;

    SidecarSession(String token, SessionContext context, EventStream events) {
        this.token = token;
        this.context = context;
        this.events = events;
        this.memory = new SessionMemory(context);
        this.sharedReceives = new SharedReceiveQueues(context, memory);
        this.connections = new SessionConnections(context, memory, sharedReceives);
        this.listeners = new SessionListeners(context, connections);
        this.transfers = new SessionTransfers(context, memory, connections, sharedReceives::find);
        this.rings = new SessionRings(context, memory, transfers);
        connections.use(rings);
    }

    String token() {
        return token;
    }

    Peer peer() {
        return context.peer();
    }

    public SessionContext context() {
        return context;
    }

    public SessionMemory memory() {
        return memory;
    }

    public SharedReceiveQueues sharedReceives() {
        return sharedReceives;
    }

    public SessionConnections connections() {
        return connections;
    }

    public SessionListeners listeners() {
        return listeners;
    }

    public SessionTransfers transfers() {
        return transfers;
    }

    public SessionRings rings() {
        return rings;
    }

    /** Fails if the session ended before the call reached it. */
    public void checkOpen() {
        if (released != null) {
            throw SessionRegistry.unknown();
        }
    }

    /** Sends waiting events, because the transport accepts data again. */
    public void flush() {
        context.run(events::flush);
    }

    /** Sends the first response. */
    void opened() {
        events.event(OpenSessionResponse.newBuilder()
                .setOpened(SessionOpened.newBuilder()
                        .setSession(token)
                        .setDefaultProtectionDomain(memory.defaultDomain().id())
                        .setLimits(context.limits().toProto()))
                .build());
    }

    /** Returns a description of the session for list calls. */
    public SessionInfo info() {
        return SessionInfo.newBuilder()
                .setName(context.name())
                .setUid(peer().uid())
                .setPid(peer().pid())
                .setRegions(memory.regionCount())
                .setConnections(connections.count())
                .setListeners(listeners.count())
                .setSharedReceiveQueues(sharedReceives.count())
                .setRegisteredOctets(context.quotas().registeredOctets().used())
                .build();
    }

    /** Prepares for the end of the sidecar: notifies the client and stops listening. */
    void drain(java.time.Duration grace) {
        if (released != null) {
            return;
        }
        events.event(OpenSessionResponse.newBuilder()
                .setDraining(Draining.newBuilder()
                        .setGrace(Duration.newBuilder()
                                .setSeconds(grace.toSeconds())
                                .setNanos(grace.toNanosPart())))
                .build());
        listeners.close(Status.UNAVAILABLE.withDescription("the sidecar is stopping"));
    }

    /**
     * Closes the connections gracefully within the grace time. The result is complete when they are closed. Fails if
     * earlier data may not have arrived and no caller was told.
     */
    CompletableFuture<Void> closeConnections(java.time.Duration grace) {
        if (grace.isZero()) {
            return connections.closeAll(grace);
        }
        long begin = System.nanoTime();
        return rings.takeAll(grace)
                .handle((taken, loss) -> {
                    java.time.Duration left = grace.minusNanos(System.nanoTime() - begin);
                    CompletableFuture<Void> ends =
                            connections.closeAll(left.compareTo(LEAST_CLOSE) < 0 ? LEAST_CLOSE : left);
                    return loss == null
                            ? ends
                            : ends.handle((ended, failure) -> CompletableFuture.<Void>failedFuture(loss))
                                    .thenCompose(Function.identity());
                })
                .thenCompose(Function.identity());
    }

    /** Completes the OpenSession call at the client's request. */
    void complete() {
        events.complete();
    }

    /**
     * Ends the session. Releases Queue calls, rings, connections, shared receive queues, listeners, regions and
     * protection domains, in this order. The result is complete when nothing is left, and is the same for every caller.
     *
     * @param status status of the OpenSession call, or null if the client has left
     */
    CompletableFuture<Void> release(@Nullable StatusRuntimeException status) {
        CompletableFuture<Void> before = released;
        if (before != null) {
            return before;
        }
        if (status == null) {
            events.cancelled();
        } else {
            events.close(status);
        }
        transfers.release();
        String cause = status == null ? null : status.getStatus().getDescription();
        rings.release(cause == null ? "the session ended" : "the session ended: " + cause);
        CompletableFuture<Void> result = connections
                .release()
                .thenComposeAsync(ignored -> rings.finish(), context.loop())
                .thenRunAsync(sharedReceives::release, context.loop())
                .thenComposeAsync(ignored -> listeners.release(), context.loop())
                .thenComposeAsync(ignored -> memory.release(), context.loop())
                .whenComplete((ignored, failure) -> onReleased(failure));
        released = result;
        return result;
    }

    private void onReleased(@Nullable Throwable failure) {
        if (failure != null || !context.quotas().isUnused()) {
            LOG.errorf(
                    failure,
                    "event=session-leak session=%s regions=%d connections=%d shared-receive-queues=%d listeners=%d",
                    LogText.quoted(context.name()),
                    context.quotas().regions().used(),
                    context.quotas().connections().used(),
                    context.quotas().sharedReceiveQueues().used(),
                    context.quotas().listeners().used());
        }
    }
}
