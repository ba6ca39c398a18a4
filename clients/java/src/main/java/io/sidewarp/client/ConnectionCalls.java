// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.CallOptions;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectResponse;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.CreateConnectionRequest;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Calls that set up connections of a session. A connection is aborted if nobody waits for it any more. */
final class ConnectionCalls {

    private ConnectionCalls() {}

    /** Creates an idle connection, and waits for it. */
    static GrpcConnection create(GrpcSession session, ConnectionOptions options) {
        CreateConnectionRequest request = CreateConnectionRequest.newBuilder()
                .setSession(session.id())
                .setOptions(options.proto())
                .build();
        return Creation.create(
                session,
                ConnectionServiceGrpc.getCreateConnectionMethod(),
                request,
                "create a connection",
                response -> session.adopt(response.getConnection(), options),
                GrpcConnection::abandon);
    }

    /** Connects with a new connection. */
    static CompletableFuture<Connection> connect(
            GrpcSession session, String host, int port, ConnectionOptions options) {
        ConnectRequest request = request(session, host, port)
                .setOptions(options.proto())
                .setPrivateData(options.privateData())
                .addAllAllowedPeers(options.allowedPeers())
                .build();
        return made(start(session, request), response -> session.adopt(response.getConnection(), options));
    }

    /** Connects with a created connection, behind the work that was posted to it. */
    static CompletableFuture<Connection> connect(GrpcSession session, String host, int port, GrpcConnection created) {
        session.flushQueues();
        ConnectRequest request = request(session, host, port)
                .setPrivateData(created.ownPrivateData())
                .addAllAllowedPeers(created.allowedPeers())
                .setConnection(created.id())
                .setAfterPosts(created.posts())
                .build();
        return made(start(session, request), response -> created.establish(response.getConnection()));
    }

    private static ConnectRequest.Builder request(GrpcSession session, String host, int port) {
        return ConnectRequest.newBuilder()
                .setSession(session.id())
                .setAddress(host)
                .setPort(port);
    }

    private static CallFuture<ConnectResponse> start(GrpcSession session, ConnectRequest request) {
        return session.start(ConnectionServiceGrpc.getConnectMethod(), request, CallOptions.DEFAULT);
    }

    /** Returns the request to accept with a created connection, behind the work that was posted to it. */
    static AcceptRequest accept(GrpcSession session, long request, GrpcConnection created) {
        session.flushQueues();
        return AcceptRequest.newBuilder()
                .setSession(session.id())
                .setRequest(request)
                .setPrivateData(created.ownPrivateData())
                .setConnection(created.id())
                .setAfterPosts(created.posts())
                .build();
    }

    /**
     * Returns a future of the connection that a call sets up. If the future ends first, the connection is aborted.
     *
     * @param connection takes the answer of the sidecar; runs on the event loop
     */
    static <R> CompletableFuture<Connection> made(CallFuture<R> call, Function<R, GrpcConnection> connection) {
        return call.<Connection, GrpcConnection>created(connection, GrpcConnection::abandon);
    }
}
