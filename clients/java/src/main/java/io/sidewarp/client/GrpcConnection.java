// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.FlushRequest;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.ReadRequest;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.SendRequest;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WatchConnectionRequest;
import io.sidewarp.v1.WriteRequest;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** A connection of a session. */
final class GrpcConnection implements Connection {

    private static final System.Logger LOG = System.getLogger(GrpcConnection.class.getName());

    private final GrpcSession session;
    private final ByteString ownPrivateData;
    private final List<String> allowedPeers;
    private final CompletableFuture<ConnectionEvent> closed = new CompletableFuture<>();
    private final Consumer<SidewarpException> failure = closed::completeExceptionally;
    private final Confirmation confirmation = new Confirmation();
    private final AtomicBoolean outcomeTold = new AtomicBoolean();
    private final ConnectionTraffic traffic;
    private final long id;
    private volatile ConnectionInfo established;
    private volatile ByteString privateData;
    private volatile State state;
    private volatile boolean failed;

    GrpcConnection(
            GrpcSession session,
            io.sidewarp.v1.Connection description,
            ConnectionOptions options,
            ConnectionTraffic traffic) {
        this.session = session;
        this.traffic = traffic;
        ownPrivateData = options.privateData();
        allowedPeers = options.allowedPeers();
        id = description.getId();
        established = Descriptions.connection(description);
        privateData = description.getPrivateData();
        state = established.state();
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public byte[] privateData() {
        return privateData.toByteArray();
    }

    @Override
    public ConnectionInfo established() {
        return established;
    }

    @Override
    public ConnectionInfo info() {
        return session.listConnections().stream()
                .filter(connection -> connection.id() == id())
                .findAny()
                .orElseThrow(() ->
                        new SidewarpException(Status.Code.NOT_FOUND, "connection " + id() + " is closed and gone"));
    }

    @Override
    public State state() {
        return state;
    }

    @Override
    public CompletableFuture<ConnectionEvent> closed() {
        return closed.copy();
    }

    @Override
    public CompletableFuture<WorkCompletion> writeAsync(List<Sge> local, RemoteAddress remote) {
        WriteRequest request = WriteRequest.newBuilder()
                .setSession(session.id())
                .setConnection(id())
                .setWork(WorkRequest.write(this, remote, elements(local))
                        .toProto()
                        .getWrite())
                .build();
        confirmation.posted(true);
        return session.start(TransferServiceGrpc.getWriteMethod(), request, CallOptions.DEFAULT)
                .converted(response -> Protos.completed(response.getCompletion()));
    }

    @Override
    public CompletableFuture<WorkCompletion> readAsync(Sge local, RemoteAddress remote) {
        ReadRequest request = ReadRequest.newBuilder()
                .setSession(session.id())
                .setConnection(id())
                .setWork(WorkRequest.read(this, remote, local).toProto().getRead())
                .build();
        long ticket = confirmation.posted(false);
        return session.start(TransferServiceGrpc.getReadMethod(), request, CallOptions.DEFAULT)
                .converted(response -> answered(ticket, Protos.completed(response.getCompletion())));
    }

    @Override
    public CompletableFuture<WorkCompletion> sendAsync(List<Sge> local, boolean solicited) {
        WorkRequest send = WorkRequest.send(this, elements(local));
        return send(solicited ? send.solicited() : send);
    }

    @Override
    public CompletableFuture<WorkCompletion> sendInvalidateAsync(List<Sge> local, boolean solicited, int stag) {
        WorkRequest send = WorkRequest.send(this, elements(local)).invalidating(stag);
        return send(solicited ? send.solicited() : send);
    }

    @Override
    public CompletableFuture<WorkCompletion> receiveAsync(List<Sge> local) {
        ReceiveRequest request = ReceiveRequest.newBuilder()
                .setSession(session.id())
                .setConnection(id())
                .setWork(WorkRequest.receive(this, elements(local)).toProto().getReceive())
                .build();
        return session.start(TransferServiceGrpc.getReceiveMethod(), request, CallOptions.DEFAULT)
                .converted(response -> Protos.completed(response.getCompletion()));
    }

    @Override
    public CompletableFuture<Void> flushAsync() {
        session.flushQueues();
        FlushRequest request = FlushRequest.newBuilder()
                .setSession(session.id())
                .setConnection(id())
                .setAfterPosts(traffic.posts())
                .build();
        long ticket = confirmation.posted(false);
        return session.start(TransferServiceGrpc.getFlushMethod(), request, CallOptions.DEFAULT)
                .converted(response -> {
                    answered(ticket, Protos.completed(response.getCompletion()));
                    return null;
                });
    }

    @Override
    public CompletableFuture<WorkCompletion> performAsync(WorkRequest request) {
        if (request.connection() != id()) {
            throw new IllegalArgumentException(
                    "the work request is for connection " + request.connection() + ", this is " + id());
        }
        PerformRequest call = PerformRequest.newBuilder()
                .setSession(session.id())
                .setWork(request.toProto())
                .build();
        long ticket = confirmation.posted(request.isData());
        return session.start(TransferServiceGrpc.getPerformMethod(), call, CallOptions.DEFAULT)
                .converted(response -> {
                    WorkCompletion completion = Protos.completed(response.getCompletion());
                    return request.isAnswered() ? answered(ticket, completion) : completion;
                });
    }

    @Override
    public Subscription watch(Consumer<ConnectionEvent> listener) {
        return Watch.start(
                session,
                WatchConnectionRequest.newBuilder()
                        .setSession(session.id())
                        .setConnection(id())
                        .build(),
                listener);
    }

    @Override
    public CompletableFuture<Void> disconnectAsync() {
        return disconnect(false, CallOptions.DEFAULT);
    }

    @Override
    public void abort() {
        CallFuture.release(disconnect(true, session.timeLimited()));
    }

    @Override
    public void close() {
        if (session.isClosed() || hasEndedGracefully() || outcomeTold.getAndSet(true)) {
            return;
        }
        try {
            CallFuture.release(disconnect(false, session.timeLimited()));
        } catch (SidewarpException e) {
            onDisconnectFailed(e);
        }
    }

    private void onDisconnectFailed(SidewarpException failure) {
        if (session.isEnded() || failure.code() == Status.Code.NOT_FOUND) {
            // The sidecar has no information any more.
            if (confirmation.isMissing()) {
                throw Errors.unconfirmed("connection " + id(), failure);
            }
            return;
        }
        // Posts that did not reach the sidecar keep the connection open, so it must be aborted here.
        if (failure.code() != Status.Code.DEADLINE_EXCEEDED && failure.code() != Status.Code.FAILED_PRECONDITION) {
            throw failure;
        }
        try {
            abort();
        } catch (SidewarpException e) {
            if (e.code() != Status.Code.NOT_FOUND && !isGone()) {
                throw e;
            }
        }
        if (confirmation.isMissing()) {
            throw Errors.unconfirmed("connection " + id(), failure);
        }
    }

    private boolean hasEndedGracefully() {
        return closed.isDone() && !closed.isCompletedExceptionally() && !failed;
    }

    @Override
    public String toString() {
        return "Connection[" + id() + ", " + established.remoteAddress() + ":" + established.remotePort() + ", " + state
                + "]";
    }

    /** Returns the private data that connect or accept sends to the peer. */
    ByteString ownPrivateData() {
        return ownPrivateData;
    }

    /** Returns the peers that connect may reach. */
    List<String> allowedPeers() {
        return allowedPeers;
    }

    /** Returns the number of work requests that were posted on queues. */
    long posts() {
        return traffic.posts();
    }

    /** Records the result of the set-up. Runs on the event loop, as the connection's events do. */
    GrpcConnection establish(io.sidewarp.v1.Connection description) {
        privateData = description.getPrivateData();
        established = Descriptions.connection(description);
        if (state == State.IDLE || state == State.CONNECTING) {
            state = established.state();
        }
        return this;
    }

    /** Aborts the connection without waiting, because the caller never received it. */
    void abandon() {
        if (isGone()) {
            return;
        }
        try {
            disconnect(true, session.timeLimited());
        } catch (SidewarpException e) {
            LOG.log(Level.DEBUG, "a connection could not be aborted", e);
        }
    }

    Confirmation confirmation() {
        return confirmation;
    }

    /** Returns whether work was posted on queues. */
    boolean hasPosts() {
        return traffic.posts() > 0;
    }

    /** Returns true once, if earlier data may not have arrived and nobody was told. */
    boolean takeLoss() {
        return !hasEndedGracefully() && confirmation.isMissing() && !outcomeTold.getAndSet(true);
    }

    /** Returns the action for a session that ends before the connection. */
    Consumer<SidewarpException> failure() {
        return failure;
    }

    /**
     * Records that the last event of the connection is lost. The sidecar must then be asked for the outcome of the
     * data.
     */
    void loseEnd() {
        failed = true;
    }

    /** Takes a state change of the session's events. */
    void onEvent(ConnectionEvent event) {
        failed |= event.error().isPresent() || event.state() == State.TERMINATED;
        state = event.state();
        if (event.state() == State.CLOSED) {
            closed.complete(event);
        }
    }

    private boolean isGone() {
        return closed.isDone() || session.isEnded();
    }

    private CompletableFuture<Void> disconnect(boolean abort, CallOptions options) {
        if (!abort) {
            session.flushQueues();
        }
        DisconnectRequest request = DisconnectRequest.newBuilder()
                .setSession(session.id())
                .setConnection(id())
                .setAbort(abort)
                .setAfterPosts(abort ? 0 : traffic.posts())
                .build();
        return session.start(ConnectionServiceGrpc.getDisconnectMethod(), request, options)
                .converted(response -> null);
    }

    private CompletableFuture<WorkCompletion> send(WorkRequest send) {
        SendRequest request = SendRequest.newBuilder()
                .setSession(session.id())
                .setConnection(id())
                .setWork(send.toProto().getSend())
                .build();
        confirmation.posted(true);
        return session.start(TransferServiceGrpc.getSendMethod(), request, CallOptions.DEFAULT)
                .converted(response -> Protos.completed(response.getCompletion()));
    }

    private static Sge[] elements(List<Sge> local) {
        return local.toArray(Sge[]::new);
    }

    /** Records the answer of the peer to work that succeeded. */
    private WorkCompletion answered(long ticket, WorkCompletion succeeded) {
        confirmation.answered(ticket);
        return succeeded;
    }
}
