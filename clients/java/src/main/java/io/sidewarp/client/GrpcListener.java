// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.AcceptResponse;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.Listening;
import io.sidewarp.v1.RejectRequest;
import io.sidewarp.v1.RejectResponse;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A listener over the Listen call. */
final class GrpcListener implements Listener {

    private static final System.Logger LOG = System.getLogger(GrpcListener.class.getName());

    private final GrpcSession session;
    private final Consumer<IncomingConnection> handler;
    private final CompletableFuture<Listening> listening = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final Consumer<SidewarpException> failure = this::fail;
    private volatile @Nullable StreamCall call;

    private GrpcListener(GrpcSession session, Consumer<IncomingConnection> handler) {
        this.session = session;
        this.handler = handler;
    }

    /** Starts listening, and returns when the sidecar listens. */
    static GrpcListener open(
            GrpcSession session,
            String address,
            int port,
            ListenOptions options,
            Consumer<IncomingConnection> handler) {
        Transport.checkMayBlock();
        session.checkOpen();
        GrpcListener listener = new GrpcListener(session, handler);
        ListenRequest request = ListenRequest.newBuilder()
                .setSession(session.id())
                .setAddress(address)
                .setPort(port)
                .setLlpValue(Protos.number(options.llp()))
                .setBacklog(options.backlog())
                .setOptions(options.connections().proto())
                .addAllAllowedPeers(options.connections().allowedPeers())
                .build();
        StreamCall started = StreamCall.start(
                session.client().transport(),
                session.client().target(),
                ConnectionServiceGrpc.getListenMethod(),
                request,
                listener::onResponse,
                listener::onEnd);
        listener.call = started;
        session.failAtEnd(listener.failure);
        try {
            Creation.await(session.client(), listener.listening, "listen");
        } catch (RuntimeException e) {
            session.forget(listener.failure);
            started.cancel("the caller gave up");
            throw e;
        }
        return listener;
    }

    @Override
    public String address() {
        return listening.join().getAddress();
    }

    @Override
    public int port() {
        return listening.join().getPort();
    }

    @Override
    public int udpPort() {
        return listening.join().getUdpPort();
    }

    @Override
    public CompletableFuture<Void> closed() {
        return closed.copy();
    }

    @Override
    public void close() {
        session.forget(failure);
        if (closed.complete(null)) {
            cancel("listener closed by its client");
        }
    }

    private void onResponse(ListenResponse response) {
        switch (response.getEventCase()) {
            case LISTENING -> listening.complete(response.getListening());
            case REQUEST -> {
                Incoming incoming = new Incoming(session, response.getRequest());
                Thread.ofVirtual().name("sidewarp-incoming-" + incoming.id()).start(() -> handle(incoming));
            }
            case EVENT_NOT_SET -> {
                // Ignores an event that only newer clients know.
            }
        }
    }

    private void handle(Incoming incoming) {
        try {
            handler.accept(incoming);
        } catch (RuntimeException | Error e) {
            log(incoming, e);
            incoming.rejectUndecided();
        }
    }

    private void log(Incoming incoming, Throwable failure) {
        String message = "the handler of incoming connections failed for " + incoming.remoteAddress() + ":"
                + incoming.remotePort();
        // The end of the session fails every handler, and is reported elsewhere.
        Level level = session.isEnded() ? Level.DEBUG : Level.WARNING;
        if (failure instanceof SidewarpException && !LOG.isLoggable(Level.DEBUG)) {
            // One line is enough: any peer can cause this failure by leaving.
            LOG.log(level, message + ": " + failure.getMessage());
        } else {
            LOG.log(level, message, failure);
        }
    }

    private void onEnd(@Nullable SidewarpException cause) {
        fail(
                cause != null
                        ? cause
                        : new SidewarpException(
                                Status.Code.UNAVAILABLE, "the sidecar ended the listener (UNAVAILABLE)"));
    }

    private void fail(SidewarpException cause) {
        session.forget(failure);
        listening.completeExceptionally(cause);
        if (closed.completeExceptionally(cause)) {
            cancel(cause.getMessage());
        }
    }

    private void cancel(String why) {
        StreamCall running = call;
        if (running != null) {
            running.cancel(why);
        }
    }

    /**
     * A connection request and the decision about it. Only the sidecar knows whether the request still waits after a
     * decision that failed. Therefore another decision is sent to the sidecar, which answers NOT_FOUND if the request
     * does not wait any more.
     */
    private static final class Incoming implements IncomingConnection {

        private final GrpcSession session;
        private final ConnectionRequest request;
        /** Latest decision; null before the first. Guarded by this. */
        private @Nullable CallFuture<?> decision;

        Incoming(GrpcSession session, ConnectionRequest request) {
            this.session = session;
            this.request = request;
        }

        @Override
        public long id() {
            return request.getId();
        }

        @Override
        public String remoteAddress() {
            return request.getRemoteAddress();
        }

        @Override
        public int remotePort() {
            return request.getRemotePort();
        }

        @Override
        public byte[] privateData() {
            return request.getPrivateData().toByteArray();
        }

        @Override
        public int mpaRevision() {
            return request.getMpaRevision();
        }

        @Override
        public OptionalInt peerIrd() {
            return Descriptions.optional(request.hasPeerIrd(), request.getPeerIrd());
        }

        @Override
        public OptionalInt peerOrd() {
            return Descriptions.optional(request.hasPeerOrd(), request.getPeerOrd());
        }

        @Override
        public Optional<String> peerIdentity() {
            return Descriptions.optional(request.getPeerIdentity());
        }

        @Override
        public int maxPrivateData() {
            return request.getMaxPrivateData();
        }

        @Override
        public CompletableFuture<Connection> acceptAsync(ConnectionOptions options) {
            AcceptRequest accept = AcceptRequest.newBuilder()
                    .setSession(session.id())
                    .setRequest(id())
                    .setOptions(options.proto())
                    .setPrivateData(options.privateData())
                    .build();
            CallFuture<AcceptResponse> accepting =
                    decide(ConnectionServiceGrpc.getAcceptMethod(), accept, CallOptions.DEFAULT);
            return ConnectionCalls.made(accepting, response -> session.adopt(response.getConnection(), options));
        }

        @Override
        public CompletableFuture<Connection> acceptAsync(Connection created) {
            GrpcConnection given = (GrpcConnection) created;
            AcceptRequest accept = ConnectionCalls.accept(session, id(), given);
            return ConnectionCalls.made(
                    decide(ConnectionServiceGrpc.getAcceptMethod(), accept, CallOptions.DEFAULT),
                    response -> given.establish(response.getConnection()));
        }

        @Override
        public void reject(byte[] privateData) {
            CallFuture.await(rejectAsync(RejectRequest.newBuilder(), privateData));
        }

        @Override
        public void reject(byte[] privateData, int requiredOrd) {
            CallFuture.await(rejectAsync(RejectRequest.newBuilder().setRequiredOrd(requiredOrd), privateData));
        }

        private CallFuture<RejectResponse> rejectAsync(RejectRequest.Builder reject, byte[] privateData) {
            reject.setSession(session.id()).setRequest(id()).setPrivateData(ByteString.copyFrom(privateData));
            return decide(ConnectionServiceGrpc.getRejectMethod(), reject.build(), session.timeLimited());
        }

        private synchronized <Q, R> CallFuture<R> decide(
                MethodDescriptor<Q, R> method, Q request, CallOptions options) {
            if (decision != null && !decision.isDone()) {
                throw new SidewarpException(
                        Status.Code.FAILED_PRECONDITION,
                        "connection request " + id() + " is being accepted or rejected; wait for the outcome");
            }
            CallFuture<R> started = session.start(method, request, options);
            decision = started;
            return started;
        }

        private synchronized @Nullable CallFuture<?> decision() {
            return decision;
        }

        /** Rejects the request after a failure of the handler, unless the peer has an answer or gets one now. */
        void rejectUndecided() {
            CallFuture<?> latest = decision();
            if (latest == null) {
                rejectQuietly();
                return;
            }
            latest.whenComplete((answer, failure) -> {
                if (failure != null) {
                    rejectQuietly();
                }
            });
        }

        private void rejectQuietly() {
            if (session.isEnded()) {
                return;
            }
            try {
                rejectAsync(RejectRequest.newBuilder(), new byte[0]).whenComplete((answer, failure) -> {
                    if (failure != null) {
                        notRejected(failure);
                    }
                });
            } catch (SidewarpException e) {
                notRejected(e);
            }
        }

        private static void notRejected(Throwable failure) {
            LOG.log(Level.DEBUG, "a request could not be rejected", failure);
        }
    }
}
