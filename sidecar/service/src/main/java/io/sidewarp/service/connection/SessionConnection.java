// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.memory.ProtectionDomain;
import io.sidewarp.engine.rdmap.StreamError;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.QueuePairAttributes;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.log.LogText;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.service.telemetry.ConnectionSpan;
import io.sidewarp.service.telemetry.StartupFailure;
import io.sidewarp.service.telemetry.WorkTotals;
import io.sidewarp.service.transfer.ConnectionWork;
import io.sidewarp.service.transfer.SharedReceiveWork;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.OpenSessionResponse;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One connection: its queue pair, the completion queue of its own, its work, and what is told about it. Confined to the
 * session's thread; the engine's events are handed over to it.
 */
final class SessionConnection {

    private static final Logger LOG = Logger.getLogger(SessionConnection.class);

    private final long id;
    private final SessionContext context;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final ConnectionWork work;
    private final ConnectionWaits waits;
    private final WorkTotals.PassiveWork passive;
    private final Runnable stopCollection;
    private final Grant grant = new Grant();
    private final Consumer<SessionConnection> onClosed;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final List<Consumer<ConnectionStateChange>> watchers = new ArrayList<>();

    /** Options of CreateConnection, for the Connect or Accept call that will use it; null when no other call may. */
    private @Nullable ConnectionOptions options;

    /** A Connect or Accept call uses it, or has used it. */
    private boolean claimed = true;

    private ConnectionSpan span = ConnectionSpan.none();
    private @Nullable PeerShare peerShare;
    private boolean initiator;
    private QueuePairState state = QueuePairState.IDLE;
    private @Nullable StreamError error;
    private boolean closesGracefully;
    private boolean aborted;
    private boolean failed;
    private String message = "";

    /**
     * An idle connection. Takes what it needs from the quotas of the session, until it is closed.
     *
     * @param shared where it takes its receives from; null: it has its own
     */
    SessionConnection(
            SessionContext context,
            ConnectionPlan plan,
            ProtectionDomain domain,
            @Nullable SharedReceiveWork shared,
            Consumer<SessionConnection> onClosed) {
        this.context = context;
        this.domain = domain;
        this.onClosed = onClosed;
        int entries = plan.sendQueue() + plan.receiveQueue();
        CompletionQueue created = null;
        try {
            grant.take(context.quotas().connections(), 1)
                    .take(context.quotas().completionEntries(), entries)
                    .take(context.quotas().receives(), plan.receiveQueue())
                    .take(context.quotas().workEntries(), entries);
            created = context.device().createCompletionQueue(entries);
            this.queuePair = context.device()
                    .createQueuePair(new QueuePairAttributes(
                            domain,
                            created,
                            shared == null ? created : shared.receiveCompletions(),
                            plan.sendQueue(),
                            Math.max(1, plan.receiveQueue()),
                            shared == null ? null : shared.queue()));
        } catch (RuntimeException | Error e) {
            if (created != null) {
                created.close();
            }
            grant.close();
            throw e;
        }
        this.completions = created;
        this.id = context.ids().incrementAndGet();
        try {
            this.work = new ConnectionWork(
                    id,
                    queuePair,
                    domain,
                    completions,
                    plan.sendQueue(),
                    plan.receiveQueue(),
                    shared,
                    context.loop(),
                    context.meter());
        } catch (RuntimeException | Error e) {
            CompletionQueue unused = created;
            queuePair
                    .abort()
                    .whenCompleteAsync(
                            (ignored, failure) -> {
                                unused.close();
                                grant.close();
                            },
                            context.loop());
            throw e;
        }
        this.waits = new ConnectionWaits(context.loop(), work, this::tell);
        this.passive = context.telemetry().work().passive();
        this.stopCollection = context.telemetry().beforeCollection(this::updatePassive);
        context.telemetry().connections().moved(null, state);
        queuePair.setEventListener(
                (source, newState, newError, text) -> context.loop().execute(() -> onState(newState, newError, text)));
        queuePair.sendPermitted().thenRunAsync(waits::permitSending, context.loop());
    }

    /** Lets one Connect or Accept call use it with these options. */
    void offer(ConnectionOptions newOptions) {
        options = newOptions;
        claimed = false;
    }

    /**
     * Reserves it for a Connect or Accept call.
     *
     * @return the options of CreateConnection
     * @throws StatusRuntimeException FAILED_PRECONDITION when another call has it, or had it, or when it is being closed
     */
    ConnectionOptions claim() {
        requireNotEnding();
        ConnectionOptions offered = options;
        if (claimed || offered == null) {
            throw ApiError.state(
                    "connection " + id + " is used by another Connect or Accept call, or was; each connection"
                            + " is for one call: create another one with CreateConnection");
        }
        claimed = true;
        return offered;
    }

    /** Another call may use it, unless one has begun to. */
    void unclaim() {
        if (state == QueuePairState.IDLE && options != null) {
            claimed = false;
        }
    }

    /** Fails when it is closed, or is being closed. */
    void requireNotEnding() {
        if (isClosed() || aborted || closesGracefully) {
            throw ApiError.closed(null, "connection " + id + " was closed before it was connected; create another one");
        }
    }

    /**
     * Begins to connect, or to accept.
     *
     * @param share closed with the connection
     */
    void begin(InetSocketAddress peer, boolean active, io.opentelemetry.context.Context trace, PeerShare share) {
        peerShare = share;
        initiator = active;
        span = ConnectionSpan.start(context.telemetry(), trace, id, active, context.name(), peer);
        move(QueuePairState.CONNECTING);
        if (options != null) {
            // Its id is known already.
            options = null;
            tell();
        }
    }

    /**
     * It is connected, perhaps to another address of the peer than the one that it was counted for.
     *
     * @throws StatusRuntimeException RESOURCE_EXHAUSTED when that one may have no more; it is aborted then
     */
    void chargeReached() {
        PeerShare share = peerShare;
        if (isClosed() || share == null) {
            return;
        }
        try {
            share.moveTo(queuePair.attributes().remoteAddress().getAddress());
        } catch (RuntimeException | Error e) {
            abort();
            throw e;
        }
    }

    long id() {
        return id;
    }

    ConnectionWork work() {
        return work;
    }

    QueuePair queuePair() {
        return queuePair;
    }

    boolean isClosed() {
        return state == QueuePairState.CLOSED;
    }

    /** Complete when the stream is gone and the quota is given back. On the session's thread. */
    CompletableFuture<Void> closed() {
        return closed;
    }

    /** The connection cannot be set up: names the cause to telemetry, and ends what there is. */
    void failed(StartupFailure reason, String text) {
        context.telemetry().connections().failed(initiator, reason);
        span.failed(text);
        abort();
    }

    CompletableFuture<Void> abort() {
        aborted = true;
        queuePair.abort();
        return closed;
    }

    CompletableFuture<Void> disconnect() {
        closesGracefully = true;
        queuePair.disconnect();
        return closed;
    }

    /**
     * Why earlier data may not have arrived; null when nothing says so. Valid once it is closed.
     *
     * @param cutOff whether this side gave up a graceful close
     */
    @Nullable
    StatusRuntimeException loss(boolean cutOff) {
        boolean overtaken = closesGracefully && aborted;
        if (!(failed || cutOff || overtaken) || !queuePair.isUnconfirmed()) {
            return null;
        }
        String cause = failed
                ? message
                : cutOff ? "the time for its graceful close was over" : "it was aborted during its graceful close";
        return ApiError.ended(
                error,
                "earlier Writes and Sends of connection " + id + " may not have arrived: "
                        + cause
                        + "; a Flush that succeeds tells what has arrived");
    }

    /** Closes gracefully behind so many work requests that came on Queue calls. */
    CompletableFuture<Void> disconnectBehind(long afterPosts) {
        return work.afterPosts(afterPosts).thenCompose(ignored -> disconnect());
    }

    /** Tells the present state, and every change until the connection is closed. */
    Runnable watch(Consumer<ConnectionStateChange> watcher) {
        work.handOut();
        watcher.accept(change());
        if (!isClosed()) {
            watchers.add(watcher);
        }
        return () -> watchers.remove(watcher);
    }

    Connection toProto() {
        return ConnectionProtos.connection(this, queuePair.attributes(), queuePair.counters(), context.name());
    }

    /** The state in the API's words. */
    ConnectionState state() {
        boolean open = state == QueuePairState.RTS || state == QueuePairState.CLOSING;
        return open && waits.isForPeer()
                ? ConnectionState.CONNECTION_STATE_WAITING_FOR_PEER
                : ConnectionProtos.state(state);
    }

    /** Names what it waits for and what to do, for people; empty for nothing. */
    String waiting() {
        return isClosed() ? "" : waits.description();
    }

    @Nullable
    StreamError error() {
        return error;
    }

    boolean isInitiator() {
        return initiator;
    }

    ProtectionDomain domain() {
        return domain;
    }

    private void onState(QueuePairState newState, @Nullable StreamError newError, String text) {
        if (isClosed()) {
            return;
        }
        if (newState != QueuePairState.CLOSED || error == null) {
            // What ended it, rather than that it is over now.
            message = text;
        }
        failed |= newState == QueuePairState.TERMINATE || newError != null;
        if (newError != null && error == null) {
            error = newError;
            context.telemetry().connections().terminated(newError);
            context.logs()
                    .terminated()
                    .warn(() -> "session=" + LogText.quoted(context.name()) + " connection=" + id + " error="
                            + LogText.quoted(newError) + " message=" + LogText.quoted(text));
        }
        span.moved(newState, error, text);
        if (newState == QueuePairState.CLOSED) {
            // The engine lets go of the completion queue only after this event.
            queuePair.abort().whenCompleteAsync((ignored, failure) -> onGone(), context.loop());
            return;
        }
        move(newState);
        if (newState == QueuePairState.RTS) {
            ConnectionAttributes agreed = queuePair.attributes();
            context.telemetry().connections().established(initiator);
            span.established(agreed);
            LOG.debugf(
                    "event=connection-established session=%s connection=%d remote=%s",
                    LogText.quoted(context.name()), id, agreed.remoteAddress());
        }
        tell();
    }

    private void move(QueuePairState newState) {
        context.telemetry().connections().moved(state, newState);
        state = newState;
    }

    private void onGone() {
        if (isClosed()) {
            return;
        }
        move(QueuePairState.CLOSED);
        release();
        tell();
        watchers.clear();
        closed.complete(null);
    }

    private void tell() {
        tell(message);
    }

    /** The event comes behind the completions that there are, and says how many. */
    private void tell(String text) {
        work.handOut();
        ConnectionStateChange change = change(text);
        for (Consumer<ConnectionStateChange> watcher : List.copyOf(watchers)) {
            watcher.accept(change);
        }
        context.events()
                .event(OpenSessionResponse.newBuilder().setConnection(change).build());
    }

    /** What watchers are told now. */
    ConnectionStateChange change() {
        String waiting = waiting();
        return change(waiting.isEmpty() ? message : waiting);
    }

    private ConnectionStateChange change(String text) {
        ConnectionStateChange.Builder change = ConnectionStateChange.newBuilder()
                .setConnection(id)
                .setState(state())
                .setCompletions(work.told())
                .setMessage(text);
        StreamError cause = error;
        if (cause != null) {
            change.setError(ApiError.rdma(cause));
        }
        return change.build();
    }

    private void release() {
        work.end();
        stopCollection.run();
        updatePassive();
        span.end(queuePair.counters());
        queuePair.close();
        completions.close();
        grant.close();
        PeerShare share = peerShare;
        if (share != null) {
            share.close();
        }
        LOG.debugf(
                "event=connection-closed session=%s connection=%d message=%s",
                LogText.quoted(context.name()), id, LogText.quoted(message));
        onClosed.accept(this);
    }

    private void updatePassive() {
        passive.update(queuePair.counters(), work.octetsSent(), work.octetsReceived());
    }
}
