// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.opentelemetry.context.Context;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.service.context.Responses;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.service.telemetry.StartupFailure;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.RejectRequest;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Listen calls of one session, and connection requests that wait for a decision. Confined to the session's thread. */
public final class SessionListeners {

    private final SessionContext context;
    private final SessionConnections connections;
    private final Set<ListenCall> calls = new HashSet<>();
    private final Map<Long, PendingRequest> pending = new HashMap<>();
    private boolean ended;

    /** Connection request that waits for a decision, and the Listen call that reported it. */
    record PendingRequest(ListenCall call, ConnectionRequest request) {}

    public SessionListeners(SessionContext context, SessionConnections connections) {
        this.context = context;
        this.connections = connections;
    }

    /** Begins to listen. The first response tells the address; the others are requests. */
    public ListenCall listen(ListenRequest request, Responses<ListenResponse> responses) {
        if (ended) {
            throw ApiError.sessionEnded();
        }
        int backlog = context.requests()
                .backlog()
                .check(
                        "backlog",
                        request.getBacklog(),
                        context.config().advanced().connection().backlog());
        // Fail now. Otherwise each Accept would fail because of these options.
        connections.check(request.getOptions());
        ConnectionPlan.checkLlp(request.getOptions(), request.getLlp());
        ListenAttributes attributes = new ListenAttributes(
                ConnectionPlan.llp(request.getLlp(), request.getLlpValue(), context.device()),
                StartupPolicy.of(request.getOptions(), context.config()),
                backlog,
                context.config().limits().startupConnections(),
                ConnectionPlan.timeout(request.getOptions(), context),
                SecurityRules.listening(request.getOptions(), request.getAllowedPeersList(), context));
        ListenCall call = new ListenCall(
                this,
                context,
                request.getOptions().toBuilder().setLlp(request.getLlp()).build(),
                responses);
        var address = AddressResolver.local(request.getAddress(), request.getPort(), context);
        return Grant.holding(grant -> {
            grant.take(context.quotas().listeners(), 1);
            call.start(address, attributes);
            calls.add(call);
            return call;
        });
    }

    /**
     * Accepts a request. From now on the connection belongs to the session and does not depend on the listener. The
     * request is kept until the engine has taken the answer: if the engine refuses one answer, the caller may send
     * another.
     */
    public ConnectionAttempt accept(AcceptRequest request, Context trace) {
        return connections.accept(request, () -> require(request.getRequest()), trace);
    }

    /** Accepts as {@link #accept} does, with a created connection whose options those of the request replace. */
    public ConnectionAttempt acceptCreated(AcceptRequest request, Context trace) {
        return connections.acceptCreated(request, () -> require(request.getRequest()), trace);
    }

    /** Returns the address of this side that the peer of a waiting request has connected to. */
    public InetSocketAddress localAddress(long request) {
        return require(request).request().localAddress();
    }

    public CompletableFuture<Void> reject(RejectRequest request) {
        ByteString privateData = request.getPrivateData();
        ConnectionPlan.checkPrivateData(privateData, context);
        PendingRequest peer = require(request.getRequest());
        return request.hasRequiredOrd()
                ? peer.request().reject(privateData.toByteArray(), requiredOrd(request.getRequiredOrd()))
                : peer.request().reject(privateData.toByteArray());
    }

    private static int requiredOrd(int ord) {
        if (ord < 0 || ord > MpaOptions.MAX_DEPTH) {
            throw ApiError.invalid("required_ord", Integer.toUnsignedString(ord), "0 to " + MpaOptions.MAX_DEPTH);
        }
        return ord;
    }

    public int count() {
        return calls.size();
    }

    /** Closes all listeners. Waiting requests are rejected, connections stay. The Listen calls end with the status. */
    public CompletableFuture<Void> close(Status status) {
        return CompletableFuture.allOf(
                List.copyOf(calls).stream().map(call -> call.close(status)).toArray(CompletableFuture[]::new));
    }

    /** Closes all listeners for good. Idempotent. */
    public CompletableFuture<Void> release() {
        ended = true;
        return close(Status.CANCELLED.withDescription("the session ended"));
    }

    /**
     * Adds a request to a Listen call. The request is kept exactly as long as the engine counts it against the backlog.
     */
    void add(ListenCall call, ConnectionRequest request) {
        if (request.over().isDone()) {
            return;
        }
        if (context.peers().isFull(request.remoteAddress().getAddress())) {
            refuse(request);
            return;
        }
        long id = context.ids().incrementAndGet();
        pending.put(id, new PendingRequest(call, request));
        request.over().thenRunAsync(() -> forget(id), context.loop());
        io.sidewarp.v1.ConnectionRequest.Builder told = io.sidewarp.v1.ConnectionRequest.newBuilder()
                .setId(id)
                .setRemoteAddress(ConnectionProtos.address(request.remoteAddress()))
                .setRemotePort(request.remoteAddress().getPort())
                .setPrivateData(ByteString.copyFrom(request.privateData()))
                .setMpaRevision(request.mpaRevision())
                .setMaxPrivateData(
                        Math.min(request.replyRoom(), context.limits().privateData()));
        told.setSecurity(ConnectionProtos.security(request.tls().orElse(null)));
        request.tls().ifPresent(tls -> told.setPeerIdentity(tls.peer().id().toString()));
        request.peerDepths().ird().ifPresent(told::setPeerIrd);
        request.peerDepths().ord().ifPresent(told::setPeerOrd);
        call.tell(ListenResponse.newBuilder().setRequest(told).build());
    }

    /** Drops a request that was answered or has lapsed. */
    private void forget(long id) {
        PendingRequest request = pending.remove(id);
        if (request != null) {
            request.call().forget(id);
        }
    }

    /** Refuses a request that the application could not accept, without reporting it. */
    private void refuse(ConnectionRequest request) {
        context.telemetry().connections().failed(false, StartupFailure.LIMIT);
        context.logs()
                .startup()
                .warn(() -> "remote=" + request.remoteAddress()
                        + " message=\"refused, the peer has as many connections as sidewarp.limits.peer-connections"
                        + " allows\"");
        request.refuse();
    }

    /** Removes a call whose listener is gone. */
    void remove(ListenCall call) {
        if (calls.remove(call)) {
            context.quotas().listeners().give(1);
        }
        pending.values().removeIf(request -> request.call() == call);
    }

    private PendingRequest require(long id) {
        PendingRequest request = pending.get(id);
        if (request == null) {
            throw ApiError.notFound("request", id, "it has lapsed, was answered before, or its Listen call has ended");
        }
        return request;
    }
}
