// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.grpc.StatusRuntimeException;
import io.sidewarp.common.LogText;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.QueuePairAttributes;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.service.telemetry.ConnectionSpan;
import io.sidewarp.service.telemetry.StartupFailure;
import io.sidewarp.service.telemetry.WorkTotals;
import io.sidewarp.service.transfer.CompletionProtos;
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
 * One connection: its queue pair, its own completion queue, its work, and its state reports. Confined to the session's
 * thread, which also handles the engine's events.
 */
final class SessionConnection {

    private static final Logger LOG = Logger.getLogger(SessionConnection.class);

    private final long id;
    private final SessionContext context;
    private final Pd domain;
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

    /**
     * Options of CreateConnection, for the Connect or Accept call that will use this connection; null if no other call
     * may.
     */
    private @Nullable ConnectionOptions options;

    /** True if a Connect or Accept call uses this connection or has used it. */
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
     * Creates an idle connection. It holds its quota of the session until it is closed.
     *
     * @param shared shared receive queue to take receives from; null: the connection has its own receives
     */
    SessionConnection(
            SessionContext context,
            ConnectionPlan plan,
            Pd domain,
            @Nullable SharedReceiveWork shared,
            Consumer<SessionConnection> onClosed) {
        this.context = context;
        this.domain = domain;
        this.onClosed = onClosed;
        this.id = context.ids().incrementAndGet();
        int entries = plan.sendQueue() + plan.receiveQueue();
        CompletionQueue newCompletions = null;
        QueuePair newPair = null;
        try {
            grant.take(context.quotas().connections(), 1)
                    .take(context.quotas().completionEntries(), entries)
                    .take(context.quotas().receives(), plan.receiveQueue())
                    .take(context.quotas().workEntries(), entries);
            newCompletions = context.device().createCompletionQueue(entries);
            newPair = context.device()
                    .createQueuePair(new QueuePairAttributes(
                            domain,
                            newCompletions,
                            shared == null ? newCompletions : shared.receiveCompletions(),
                            plan.sendQueue(),
                            Math.max(1, plan.receiveQueue()),
                            shared == null ? null : shared.queue()));
            this.work = new ConnectionWork(
                    id,
                    newPair,
                    domain,
                    newCompletions,
                    plan.sendQueue(),
                    plan.receiveQueue(),
                    shared,
                    context.loop(),
                    context.meter());
        } catch (RuntimeException | Error e) {
            CompletionQueue unused = newCompletions;
            Runnable giveBack = () -> {
                if (unused != null) {
                    unused.close();
                }
                grant.close();
            };
            if (newPair == null) {
                giveBack.run();
            } else {
                newPair.abort().whenCompleteAsync((ignored, failure) -> giveBack.run(), context.loop());
            }
            throw e;
        }
        this.completions = newCompletions;
        this.queuePair = newPair;
        this.waits = new ConnectionWaits(context.loop(), work, this::tell);
        this.passive = context.telemetry().work().passive();
        this.stopCollection = context.telemetry().beforeCollection(this::updatePassive);
        context.telemetry().connections().moved(null, state);
        queuePair.setEventListener(
                (source, newState, newError, text) -> context.loop().execute(() -> onState(newState, newError, text)));
        queuePair.sendPermitted().thenRunAsync(waits::permitSending, context.loop());
    }

    /** Lets one Connect or Accept call use this connection with these options. */
    void offer(ConnectionOptions newOptions) {
        options = newOptions;
        claimed = false;
    }

    /**
     * Reserves this connection for a Connect or Accept call.
     *
     * @return the options of CreateConnection
     * @throws StatusRuntimeException FAILED_PRECONDITION if another call uses or has used this connection, or if it is
     *     closing
     */
    ConnectionOptions claim() {
        requireNotEnding();
        if (claimed || options == null) {
            throw ApiError.state(
                    "connection " + id + " is used by another Connect or Accept call, or has been; a connection"
                            + " serves one call: create another connection with CreateConnection");
        }
        claimed = true;
        return options;
    }

    /** Lets another call use this connection, unless the previous call has begun to connect. */
    void unclaim() {
        if (state == QueuePairState.IDLE && options != null) {
            claimed = false;
        }
    }

    /** Fails if the connection is closed or closing. */
    void requireNotEnding() {
        if (isClosed() || aborted || closesGracefully) {
            throw ApiError.closed(null, "connection " + id + " was closed before it was connected; create another one");
        }
    }

    /**
     * Begins to connect or to accept.
     *
     * @param share quota that is released with the connection
     */
    void begin(InetSocketAddress peer, boolean active, io.opentelemetry.context.Context trace, PeerShare share) {
        peerShare = share;
        initiator = active;
        span = ConnectionSpan.start(context.telemetry(), trace, id, active, context.name(), peer);
        move(QueuePairState.CONNECTING);
        if (options != null) {
            // The id of this connection is already known to the caller.
            options = null;
            tell();
        }
    }

    /**
     * Moves the quota to the address that was reached, which may differ from the address that was counted.
     *
     * @throws StatusRuntimeException RESOURCE_EXHAUSTED if the reached address is at its limit; the connection is
     *     aborted in that case
     */
    void chargeReached() {
        if (isClosed() || peerShare == null) {
            return;
        }
        try {
            peerShare.moveTo(queuePair.attributes().remoteAddress().getAddress());
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

    /**
     * Returns a future that completes when the stream is gone and the quota is released. Completes on the session's
     * thread.
     */
    CompletableFuture<Void> closed() {
        return closed;
    }

    /** Records the reason of a failed set-up in telemetry, and aborts the connection. */
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
     * Returns a status if earlier data may not have arrived, else null. Valid once the connection is closed.
     *
     * @param cutOff true if this side gave up a graceful close
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

    /** Closes gracefully after the given number of work requests from Queue calls. */
    CompletableFuture<Void> disconnectBehind(long afterPosts) {
        return work.afterPosts(afterPosts).thenCompose(ignored -> disconnect());
    }

    /** Reports the current state, and every change until the connection is closed. */
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

    /** Returns the state in the form of the API. */
    ConnectionState state() {
        boolean open = state == QueuePairState.RTS || state == QueuePairState.CLOSING;
        return open && waits.isForPeer()
                ? ConnectionState.CONNECTION_STATE_WAITING_FOR_PEER
                : ConnectionProtos.state(state);
    }

    /** Returns a text for people that names the wait and the remedy; empty if nothing waits. */
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

    Pd domain() {
        return domain;
    }

    private void onState(QueuePairState newState, @Nullable StreamError newError, String text) {
        if (isClosed()) {
            return;
        }
        if (newState != QueuePairState.CLOSED || error == null) {
            // Keeps the message about the cause of the end instead of the message about the end itself.
            message = text;
        }
        failed |= newState == QueuePairState.TERMINATE || newError != null;
        if (newError != null && error == null) {
            error = newError;
            context.telemetry().connections().terminated(newError);
            recordEnd(newError, text);
            context.logs()
                    .terminated()
                    .warn(() -> "session=" + LogText.quoted(context.name()) + " connection=" + id + " error="
                            + LogText.quoted(newError) + " message=" + LogText.quoted(text));
        }
        span.moved(newState, error, text);
        if (newState == QueuePairState.CLOSED) {
            // The engine releases the completion queue only after this event.
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

    /** Keeps the error that ends the connection for the status page. */
    private void recordEnd(StreamError cause, String text) {
        StatusRuntimeException status = ApiError.ended(cause, text + "; " + CompletionProtos.remedy(cause));
        context.telemetry()
                .errors()
                .add(
                        "connection " + id,
                        context.name(),
                        status.getStatus().getCode(),
                        String.valueOf(status.getStatus().getDescription()),
                        ApiError.retry(status));
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

    /** Hands out pending completions first, because the event follows them and carries their number. */
    private void tell(String text) {
        work.handOut();
        ConnectionStateChange change = change(text);
        for (Consumer<ConnectionStateChange> watcher : List.copyOf(watchers)) {
            watcher.accept(change);
        }
        context.events()
                .accept(OpenSessionResponse.newBuilder().setConnection(change).build());
    }

    /** Returns the current state change for watchers. */
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
        if (error != null) {
            change.setError(ApiError.rdma(error));
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
        if (peerShare != null) {
            peerShare.close();
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
