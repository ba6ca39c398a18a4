// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.AcceptResponse;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectResponse;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.CreateConnectionRequest;
import io.sidewarp.v1.CreateConnectionResponse;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.DisconnectResponse;
import io.sidewarp.v1.ListConnectionsRequest;
import io.sidewarp.v1.ListConnectionsResponse;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.Listening;
import io.sidewarp.v1.RejectRequest;
import io.sidewarp.v1.RejectResponse;
import io.sidewarp.v1.WatchConnectionRequest;
import io.sidewarp.v1.WatchConnectionResponse;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Connections without peers. */
final class FakeConnections extends ConnectionServiceGrpc.ConnectionServiceImplBase {

    final BlockingQueue<CreateConnectionRequest> creations = new LinkedBlockingQueue<>();
    final BlockingQueue<ConnectRequest> connects = new LinkedBlockingQueue<>();
    final BlockingQueue<AcceptRequest> accepts = new LinkedBlockingQueue<>();
    final BlockingQueue<RejectRequest> rejects = new LinkedBlockingQueue<>();
    final BlockingQueue<DisconnectRequest> disconnects = new LinkedBlockingQueue<>();
    final BlockingQueue<StreamObserver<ListenResponse>> listeners = new LinkedBlockingQueue<>();
    final Map<Long, Connection> connections = new ConcurrentHashMap<>();

    /** When set, Connect fails with it. */
    volatile @Nullable StatusRuntimeException connectFailure;

    volatile boolean answersListen = true;

    /** Else the connection is gone, and a Disconnect that does not abort is not answered. */
    volatile boolean answersDisconnect = true;

    /** Accept fails with these, one after the other, and succeeds then. */
    final Queue<StatusRuntimeException> acceptFailures = new ConcurrentLinkedQueue<>();

    /** When set, Connect answers once it is complete. */
    volatile @Nullable CompletableFuture<Void> connectHold;

    /** When set, Accept answers once it is complete. */
    volatile @Nullable CompletableFuture<Void> acceptHold;

    /** Clients that left before Connect or Accept was answered. */
    final Semaphore cancelled = new Semaphore(0);

    /** The peer's private data in new connections. */
    volatile ByteString privateData = ByteString.EMPTY;

    private final AtomicLong ids = new AtomicLong(100);

    @Override
    public void createConnection(CreateConnectionRequest request, StreamObserver<CreateConnectionResponse> response) {
        creations.add(request);
        Connection created = Connection.newBuilder()
                .setId(ids.incrementAndGet())
                .setState(ConnectionState.CONNECTION_STATE_IDLE)
                .build();
        connections.put(created.getId(), created);
        response.onNext(
                CreateConnectionResponse.newBuilder().setConnection(created).build());
        response.onCompleted();
    }

    @Override
    public void connect(ConnectRequest request, StreamObserver<ConnectResponse> response) {
        connects.add(request);
        StatusRuntimeException failure = connectFailure;
        if (failure != null) {
            response.onError(failure);
            return;
        }
        whenDone(connectHold, response, () -> {
            response.onNext(ConnectResponse.newBuilder()
                    .setConnection(establish(request.getConnection(), request.getAddress(), request.getPort()))
                    .build());
            response.onCompleted();
        });
    }

    @Override
    public void listen(ListenRequest request, StreamObserver<ListenResponse> response) {
        if (!answersListen) {
            return;
        }
        response.onNext(ListenResponse.newBuilder()
                .setListening(Listening.newBuilder().setAddress("127.0.0.1").setPort(4791))
                .build());
        listeners.add(response);
    }

    @Override
    public void accept(AcceptRequest request, StreamObserver<AcceptResponse> response) {
        accepts.add(request);
        whenDone(acceptHold, response, () -> answer(request, response));
    }

    private void whenDone(@Nullable CompletableFuture<Void> hold, StreamObserver<?> response, Runnable answer) {
        ((ServerCallStreamObserver<?>) response).setOnCancelHandler(cancelled::release);
        if (hold == null) {
            answer.run();
        } else {
            hold.thenRun(answer);
        }
    }

    private void answer(AcceptRequest request, StreamObserver<AcceptResponse> response) {
        StatusRuntimeException failure = acceptFailures.poll();
        if (failure != null) {
            response.onError(failure);
            return;
        }
        response.onNext(AcceptResponse.newBuilder()
                .setConnection(establish(request.getConnection(), "127.0.0.9", 9))
                .build());
        response.onCompleted();
    }

    @Override
    public void reject(RejectRequest request, StreamObserver<RejectResponse> response) {
        rejects.add(request);
        response.onNext(RejectResponse.getDefaultInstance());
        response.onCompleted();
    }

    @Override
    public void disconnect(DisconnectRequest request, StreamObserver<DisconnectResponse> response) {
        disconnects.add(request);
        if (connections.remove(request.getConnection()) == null) {
            response.onError(
                    Status.NOT_FOUND.withDescription("no such connection").asRuntimeException());
            return;
        }
        if (!answersDisconnect && !request.getAbort()) {
            return;
        }
        response.onNext(DisconnectResponse.getDefaultInstance());
        response.onCompleted();
    }

    @Override
    public void watchConnection(WatchConnectionRequest request, StreamObserver<WatchConnectionResponse> response) {
        for (ConnectionState state : new ConnectionState[] {
            ConnectionState.CONNECTION_STATE_ESTABLISHED,
            ConnectionState.CONNECTION_STATE_CLOSING,
            ConnectionState.CONNECTION_STATE_CLOSED
        }) {
            response.onNext(WatchConnectionResponse.newBuilder()
                    .setChange(ConnectionStateChange.newBuilder()
                            .setConnection(request.getConnection())
                            .setState(state))
                    .build());
        }
        response.onCompleted();
    }

    @Override
    public void listConnections(ListConnectionsRequest request, StreamObserver<ListConnectionsResponse> response) {
        response.onNext(ListConnectionsResponse.newBuilder()
                .addAllConnections(connections.values())
                .build());
        response.onCompleted();
    }

    private Connection establish(long given, String address, int port) {
        Connection connection = Connection.newBuilder()
                .setId(given == 0 ? ids.incrementAndGet() : given)
                .setState(ConnectionState.CONNECTION_STATE_ESTABLISHED)
                .setRemoteAddress(address)
                .setRemotePort(port)
                .setPrivateData(privateData)
                .build();
        connections.put(connection.getId(), connection);
        return connection;
    }
}
