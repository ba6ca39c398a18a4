// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.FlushRequest;
import io.sidewarp.v1.FlushResponse;
import io.sidewarp.v1.PerformRequest;
import io.sidewarp.v1.PerformResponse;
import io.sidewarp.v1.ReadRequest;
import io.sidewarp.v1.ReadResponse;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.ReceiveResponse;
import io.sidewarp.v1.SendRequest;
import io.sidewarp.v1.SendResponse;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WatchConnectionRequest;
import io.sidewarp.v1.WriteRequest;
import io.sidewarp.v1.WriteResponse;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

/** A connection of a session. */
final class GrpcConnection implements Connection {

    private static final System.Logger LOG = System.getLogger(GrpcConnection.class.getName());

    private final GrpcSession session;
    private final ByteString ownPrivateData;
    private final CompletableFuture<ConnectionStateChange> closed = new CompletableFuture<>();
    private final Consumer<SidewarpException> failure = closed::completeExceptionally;
    private final Confirmation confirmation = new Confirmation();
    private final AtomicBoolean outcomeTold = new AtomicBoolean();
    private final ConnectionTraffic traffic;
    private volatile io.sidewarp.v1.Connection established;
    private volatile ConnectionState state;
    private volatile boolean failed;

    GrpcConnection(
            GrpcSession session,
            io.sidewarp.v1.Connection established,
            ConnectionOptions options,
            ConnectionTraffic traffic) {
        this.session = session;
        this.established = established;
        this.traffic = traffic;
        ownPrivateData = options.privateData();
        state = established.getState();
    }

    @Override
    public long id() {
        return established.getId();
    }

    @Override
    public byte[] privateData() {
        return established.getPrivateData().toByteArray();
    }

    @Override
    public io.sidewarp.v1.Connection established() {
        return established;
    }

    @Override
    public io.sidewarp.v1.Connection info() {
        return session.listConnections().stream()
                .filter(connection -> connection.getId() == id())
                .findAny()
                .orElseThrow(() ->
                        new SidewarpException(Status.Code.NOT_FOUND, "connection " + id() + " is closed and gone"));
    }

    @Override
    public ConnectionState state() {
        return state;
    }

    @Override
    public CompletableFuture<ConnectionStateChange> closed() {
        return closed.copy();
    }

    @Override
    public WorkCompletion write(Sge local, RemoteAddress remote) {
        return CallFuture.await(writeAsync(local, remote));
    }

    @Override
    public CompletableFuture<WorkCompletion> writeAsync(Sge local, RemoteAddress remote) {
        return writeAsync(List.of(local), remote);
    }

    @Override
    public CompletableFuture<WorkCompletion> writeAsync(List<Sge> local, RemoteAddress remote) {
        WriteRequest request = WriteRequest.newBuilder()
                .setSession(session.id())
                .setConnection(id())
                .setWork(Protos.write(remote, local))
                .build();
        confirmation.posted(true);
        return session.start(TransferServiceGrpc.getWriteMethod(), request, CallOptions.DEFAULT)
                .converted(completed(WriteResponse::getCompletion));
    }

    @Override
    public WorkCompletion read(Sge local, RemoteAddress remote) {
        return CallFuture.await(readAsync(local, remote));
    }

    @Override
    public CompletableFuture<WorkCompletion> readAsync(Sge local, RemoteAddress remote) {
        ReadRequest request = ReadRequest.newBuilder()
                .setSession(session.id())
                .setConnection(id())
                .setWork(Protos.read(remote, local))
                .build();
        long ticket = confirmation.posted(false);
        return session.start(TransferServiceGrpc.getReadMethod(), request, CallOptions.DEFAULT)
                .converted(answered(ticket, completed(ReadResponse::getCompletion)));
    }

    @Override
    public WorkCompletion send(Sge local) {
        return send(local, false);
    }

    @Override
    public WorkCompletion send(Sge local, boolean solicited) {
        return CallFuture.await(sendAsync(local, solicited));
    }

    @Override
    public CompletableFuture<WorkCompletion> sendAsync(Sge local, boolean solicited) {
        return sendAsync(List.of(local), solicited);
    }

    @Override
    public CompletableFuture<WorkCompletion> sendAsync(List<Sge> local, boolean solicited) {
        return send(Protos.send(local).toBuilder().setSolicited(solicited));
    }

    @Override
    public CompletableFuture<WorkCompletion> sendInvalidateAsync(List<Sge> local, boolean solicited, int stag) {
        return send(Protos.send(local).toBuilder().setSolicited(solicited).setInvalidateStag(stag));
    }

    @Override
    public WorkCompletion receive(Sge local) {
        return CallFuture.await(receiveAsync(local));
    }

    @Override
    public CompletableFuture<WorkCompletion> receiveAsync(Sge local) {
        return receiveAsync(List.of(local));
    }

    @Override
    public CompletableFuture<WorkCompletion> receiveAsync(List<Sge> local) {
        ReceiveRequest request = ReceiveRequest.newBuilder()
                .setSession(session.id())
                .setConnection(id())
                .setWork(Protos.receive(0, local))
                .build();
        return session.start(TransferServiceGrpc.getReceiveMethod(), request, CallOptions.DEFAULT)
                .converted(completed(ReceiveResponse::getCompletion));
    }

    @Override
    public void flush() {
        CallFuture.await(flushAsync());
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
        Function<FlushResponse, WorkCompletion> completion = answered(ticket, completed(FlushResponse::getCompletion));
        return session.start(TransferServiceGrpc.getFlushMethod(), request, CallOptions.DEFAULT)
                .converted(completion.andThen(succeeded -> null));
    }

    @Override
    public WorkCompletion perform(WorkRequest request) {
        return CallFuture.await(performAsync(request));
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
        Function<PerformResponse, WorkCompletion> completion = completed(PerformResponse::getCompletion);
        return session.start(TransferServiceGrpc.getPerformMethod(), call, CallOptions.DEFAULT)
                .converted(request.isAnswered() ? answered(ticket, completion) : completion);
    }

    @Override
    public long fetchAdd(RemoteAddress remote, long add) {
        return perform(WorkRequest.fetchAdd(this, remote, add)).original().orElseThrow();
    }

    @Override
    public long compareSwap(RemoteAddress remote, long compare, long swap) {
        return perform(WorkRequest.compareSwap(this, remote, compare, swap))
                .original()
                .orElseThrow();
    }

    @Override
    public Subscription watch(Consumer<ConnectionStateChange> listener) {
        return Watch.start(
                session,
                WatchConnectionRequest.newBuilder()
                        .setSession(session.id())
                        .setConnection(id())
                        .build(),
                listener);
    }

    @Override
    public void disconnect() {
        CallFuture.await(disconnectAsync());
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
        return "Connection[" + id() + ", " + established.getRemoteAddress() + ":" + established.getRemotePort() + ", "
                + state + "]";
    }

    /** Returns the private data that connect or accept sends to the peer. */
    ByteString ownPrivateData() {
        return ownPrivateData;
    }

    /** Returns the number of work requests that were posted on queues. */
    long posts() {
        return traffic.posts();
    }

    /**
     * Returns a future of this connection, after a call has set it up. If the future ends first, the connection is
     * aborted.
     */
    <R> CompletableFuture<Connection> setUp(
            CallFuture<R> call, Function<? super R, io.sidewarp.v1.Connection> description) {
        return call.<Connection, GrpcConnection>created(
                response -> establish(description.apply(response)), GrpcConnection::abandon);
    }

    /** Records the result of the set-up. Runs on the event loop, as the connection's events do. */
    private GrpcConnection establish(io.sidewarp.v1.Connection description) {
        established = description;
        if (state == ConnectionState.CONNECTION_STATE_IDLE || state == ConnectionState.CONNECTION_STATE_CONNECTING) {
            state = description.getState();
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
    void onChange(ConnectionStateChange change) {
        failed |= change.hasError() || change.getState() == ConnectionState.CONNECTION_STATE_TERMINATED;
        state = change.getState();
        if (change.getState() == ConnectionState.CONNECTION_STATE_CLOSED) {
            closed.complete(change);
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

    private CompletableFuture<WorkCompletion> send(SendWork.Builder work) {
        SendRequest request = SendRequest.newBuilder()
                .setSession(session.id())
                .setConnection(id())
                .setWork(work)
                .build();
        confirmation.posted(true);
        return session.start(TransferServiceGrpc.getSendMethod(), request, CallOptions.DEFAULT)
                .converted(completed(SendResponse::getCompletion));
    }

    /** Returns a completion that also records the answer of the peer after a success. */
    private <R> Function<R, WorkCompletion> answered(long ticket, Function<R, WorkCompletion> completion) {
        return response -> {
            WorkCompletion succeeded = completion.apply(response);
            confirmation.answered(ticket);
            return succeeded;
        };
    }

    private <R> Function<R, WorkCompletion> completed(Function<R, io.sidewarp.v1.WorkCompletion> completion) {
        return response -> {
            io.sidewarp.v1.WorkCompletion ended = completion.apply(response);
            return Protos.completion(ended, ended.getId()).orThrow();
        };
    }
}
