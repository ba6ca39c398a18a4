// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.engine.verbs.AssociationAttributes;
import io.sidewarp.service.connection.ConnectionAttempt;
import io.sidewarp.service.connection.ConnectionProtos;
import io.sidewarp.service.connection.ListenCall;
import io.sidewarp.service.peer.Peer;
import io.sidewarp.service.session.SessionRegistry;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.service.telemetry.CallInterceptor;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.AcceptResponse;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectResponse;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.CreateConnectionRequest;
import io.sidewarp.v1.CreateConnectionResponse;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.DisconnectResponse;
import io.sidewarp.v1.ListAssociationsRequest;
import io.sidewarp.v1.ListAssociationsResponse;
import io.sidewarp.v1.ListConnectionsRequest;
import io.sidewarp.v1.ListConnectionsResponse;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.RejectRequest;
import io.sidewarp.v1.RejectResponse;
import io.sidewarp.v1.WatchConnectionRequest;
import io.sidewarp.v1.WatchConnectionResponse;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Implements ConnectionService. */
final class ConnectionApi extends ConnectionServiceGrpc.ConnectionServiceImplBase {

    private final Calls calls;

    ConnectionApi(Calls calls) {
        this.calls = calls;
    }

    @Override
    public void listen(ListenRequest request, StreamObserver<ListenResponse> observer) {
        ServerCallStreamObserver<ListenResponse> call = (ServerCallStreamObserver<ListenResponse>) observer;
        CancelHook hook = new CancelHook(call);
        ReadyHook ready = new ReadyHook(call);
        calls.inSession(request.getSession(), observer, session -> {
            calls.registry().checkNotDraining();
            ListenCall listen = session.listeners().listen(request, new GrpcResponses<>(call));
            hook.arm(session, listen::cancel);
            ready.arm(session, listen::flush);
        });
    }

    @Override
    public void createConnection(CreateConnectionRequest request, StreamObserver<CreateConnectionResponse> observer) {
        calls.create(
                request.getSession(),
                observer,
                session -> {
                    calls.registry().checkNotDraining();
                    return CompletableFuture.completedFuture(
                            session.connections().create(request));
                },
                (session, connection) -> session.connections().disconnect(connection.getId(), true, 0),
                connection -> CreateConnectionResponse.newBuilder()
                        .setConnection(connection)
                        .build());
    }

    @Override
    public void accept(AcceptRequest request, StreamObserver<AcceptResponse> observer) {
        var trace = CallInterceptor.TRACE.get();
        attempt(
                request.getSession(),
                observer,
                session -> session.listeners().accept(request, trace),
                connection ->
                        AcceptResponse.newBuilder().setConnection(connection).build());
    }

    @Override
    public void reject(RejectRequest request, StreamObserver<RejectResponse> observer) {
        calls.unary(
                request.getSession(),
                observer,
                session ->
                        session.listeners().reject(request).thenApply(ignored -> RejectResponse.getDefaultInstance()));
    }

    @Override
    public void connect(ConnectRequest request, StreamObserver<ConnectResponse> observer) {
        var trace = CallInterceptor.TRACE.get();
        attempt(
                request.getSession(),
                observer,
                session -> session.connections().connect(request, trace),
                connection ->
                        ConnectResponse.newBuilder().setConnection(connection).build());
    }

    private <R> void attempt(
            String token,
            StreamObserver<R> observer,
            Function<SidecarSession, ConnectionAttempt> begin,
            Function<Connection, R> response) {
        CancelHook hook = new CancelHook((ServerCallStreamObserver<R>) observer);
        calls.inSession(token, observer, session -> {
            calls.registry().checkNotDraining();
            ConnectionAttempt attempt = begin.apply(session);
            // Armed even if the connection exists already: the client may leave before the response has been sent.
            hook.arm(session, attempt::cancel);
            calls.answer(observer, attempt.result().thenApply(response));
        });
    }

    @Override
    public void disconnect(DisconnectRequest request, StreamObserver<DisconnectResponse> observer) {
        calls.unary(
                request.getSession(),
                observer,
                session -> session.connections()
                        .disconnect(request.getConnection(), request.getAbort(), request.getAfterPosts())
                        .thenApply(ignored -> DisconnectResponse.getDefaultInstance()));
    }

    @Override
    public void watchConnection(WatchConnectionRequest request, StreamObserver<WatchConnectionResponse> observer) {
        CancelHook hook = new CancelHook((ServerCallStreamObserver<WatchConnectionResponse>) observer);
        calls.inSession(request.getSession(), observer, session -> {
            Runnable stop = session.connections().watch(request.getConnection(), change -> {
                observer.onNext(
                        WatchConnectionResponse.newBuilder().setChange(change).build());
                if (change.getState() == ConnectionState.CONNECTION_STATE_CLOSED) {
                    observer.onCompleted();
                }
            });
            hook.arm(session, stop);
        });
    }

    @Override
    public void listConnections(ListConnectionsRequest request, StreamObserver<ListConnectionsResponse> observer) {
        calls.list(
                request.getSession(),
                observer,
                session -> session.connections().list(),
                connections -> ListConnectionsResponse.newBuilder()
                        .addAllConnections(connections)
                        .build());
    }

    @Override
    public void listAssociations(ListAssociationsRequest request, StreamObserver<ListAssociationsResponse> observer) {
        SessionRegistry registry = calls.registry();
        Peer peer = Peer.CONTEXT.get();
        CompletableFuture<Predicate<AssociationAttributes>> visible = registry.seesAll(peer)
                ? CompletableFuture.completedFuture(every -> true)
                : registry.collect(peer, session -> session.connections().list())
                        .thenApply(ConnectionApi::carriesOneOf);
        calls.answer(
                observer,
                visible.thenCombine(
                        registry.device().associations(),
                        (which, associations) -> ListAssociationsResponse.newBuilder()
                                .addAllAssociations(associations.stream()
                                        .filter(which)
                                        .map(ConnectionProtos::association)
                                        .toList())
                                .build()));
    }

    private static Predicate<AssociationAttributes> carriesOneOf(List<List<Connection>> connections) {
        Set<Long> numbers = connections.stream()
                .flatMap(List::stream)
                .map(Connection::getAssociation)
                .collect(Collectors.toSet());
        return association -> numbers.contains(association.id());
    }
}
