// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.receive;
import static io.sidewarp.service.testing.Works.send;
import static io.sidewarp.service.testing.Works.sge;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CloseSessionRequest;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.ErrorAdvice;
import io.sidewarp.v1.GetDeviceRequest;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.MpaOptions;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.ReceiveRequest;
import io.sidewarp.v1.ReceiveResponse;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.Retry;
import io.sidewarp.v1.SendRequest;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.SharedReceiveQueue;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WorkCompletion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests connections that have an ID before Connect or Accept. */
class CreateConnectionTest extends TwoSidecars {

    private static final int SIZE = 64;
    private static final ConnectionOptions DEFAULTS = ConnectionOptions.getDefaultInstance();

    private Region outbox;
    private Region inbox;

    @BeforeEach
    void register() {
        outbox = client.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
        inbox = server.managed(SIZE, Access.ACCESS_LOCAL_WRITE);
    }

    private AcceptRequest.Builder acceptRequest(TestSession.Listening listening) {
        return AcceptRequest.newBuilder()
                .setSession(server.token())
                .setRequest(listening.next().getId());
    }

    private ConnectRequest connectRequest(int port, long connection) {
        return client.connectRequest(port).setConnection(connection).build();
    }

    private Connection accept(AcceptRequest.Builder request) {
        return server.connections().accept(request.build()).getConnection();
    }

    private static void disconnect(TestSession session, long connection, boolean abort) {
        session.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(session.token())
                        .setConnection(connection)
                        .setAbort(abort)
                        .build());
    }

    private static int unusedPort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private Status refusedConnect(ConnectRequest request) {
        return Waiting.status(() -> client.connections().connect(request));
    }

    private ConnectionState state(long connection) {
        return client.listConnections().stream()
                .filter(listed -> listed.getId() == connection)
                .findAny()
                .orElseThrow()
                .getState();
    }

    @Test
    void receivesAreThereForPeersThatSendAtOnceOnBothSides() {
        Region answer = server.managed(SIZE);
        long connecting = client.createConnection(ConnectionOptions.newBuilder()
                        .setMpa(MpaOptions.newBuilder().setPeerToPeer(true))
                        .build())
                .getId();
        Connection accepting = server.createConnection(DEFAULTS);
        try (TestQueue here = client.queue(8);
                TestQueue there = server.queue(8);
                TestSession.Listening listening = server.listen()) {
            here.credits();
            there.credits();
            here.post(receive(1, connecting, outbox, 0, 8).build());
            there.post(receive(2, accepting.getId(), inbox, 0, 8).build());
            CompletableFuture<Connection> connected = client.connect(client.connectRequest(listening.port())
                    .setConnection(connecting)
                    .setAfterPosts(1)
                    .setPrivateData(ByteString.copyFromUtf8("hello"))
                    .build());
            Connection accepted = accept(
                    acceptRequest(listening).setConnection(accepting.getId()).setAfterPosts(1));
            there.post(send(3, accepted.getId(), answer, 4).build());
            here.post(send(4, Waiting.join(connected).getId(), outbox, 5).build());

            assertThat(accepting.getState()).isEqualTo(ConnectionState.CONNECTION_STATE_IDLE);
            assertThat(accepted.getId()).isEqualTo(accepting.getId());
            assertThat(accepted.getState()).isEqualTo(ConnectionState.CONNECTION_STATE_ESTABLISHED);
            assertThat(accepted.getPrivateData().toStringUtf8()).isEqualTo("hello");
            assertThat(connected.join().getId()).isEqualTo(connecting);
            assertThat(connected.join().getPeerToPeer()).isTrue();
            assertThat(here.next(2)).extracting(WorkCompletion::getId).containsExactlyInAnyOrder(1L, 4L);
            assertThat(there.next(2)).extracting(WorkCompletion::getId).containsExactlyInAnyOrder(2L, 3L);
        }
    }

    @Test
    void receiveCallsMayComeBeforeAccept() throws Exception {
        long accepting = server.createConnection(DEFAULTS).getId();
        Future<ReceiveResponse> receiving = TransferServiceGrpc.newFutureStub(server.channel())
                .receive(ReceiveRequest.newBuilder()
                        .setSession(server.token())
                        .setConnection(accepting)
                        .setWork(ReceiveWork.newBuilder().addLocal(sge(inbox, 0, SIZE)))
                        .build());
        // Calls of one channel are handled in order, so that the receive is posted when this one returns.
        server.device().getDevice(GetDeviceRequest.getDefaultInstance());
        try (TestSession.Listening listening = server.listen()) {
            CompletableFuture<Connection> connected =
                    client.connect(client.connectRequest(listening.port()).build());
            accept(acceptRequest(listening).setConnection(accepting));

            sendFrom(Waiting.join(connected).getId());

            assertThat(receiving.get(20, TimeUnit.SECONDS).getCompletion().getLength())
                    .isEqualTo(SIZE);
        }
    }

    private void sendFrom(long connection) {
        client.transfer()
                .send(SendRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection)
                        .setWork(SendWork.newBuilder().addLocal(sge(outbox, 0, SIZE)))
                        .build());
    }

    @Test
    void sendWorkIsRefusedUntilItIsConnected() {
        long connection = client.createConnection(DEFAULTS).getId();
        String message =
                "connection " + connection + " is idle; wait for Connect or Accept to return, then post the work";
        try (TestQueue queue = client.queue(2)) {
            queue.credits();
            queue.post(send(1, connection, outbox, 4).build());

            WorkCompletion refused = queue.next();

            assertThat(refused.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_INVALID_REQUEST);
            assertThat(refused.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION.value());
            assertThat(refused.getRetry()).isEqualTo(Retry.RETRY_LATER);
            assertThat(refused.getMessage()).isEqualTo(message);
        }
        StatusRuntimeException failure = Waiting.failure(() -> sendFrom(connection));
        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(failure.getStatus().getDescription()).isEqualTo(message);
        assertThat(Waiting.detail(failure, ErrorAdvice.class).getRetry()).isEqualTo(Retry.RETRY_LATER);
        assertThat(state(connection)).isEqualTo(ConnectionState.CONNECTION_STATE_IDLE);
    }

    @Test
    void oneCallMayUseIt() throws IOException {
        long connection = client.createConnection(DEFAULTS).getId();
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Connection> first = client.connect(connectRequest(silent.getLocalPort(), connection));
            Awaitility.await().until(() -> state(connection) == ConnectionState.CONNECTION_STATE_CONNECTING);

            Status second = refusedConnect(connectRequest(silent.getLocalPort(), connection));

            assertThat(second.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
            assertThat(second.getDescription()).contains("is used by another Connect or Accept call");
            assertThat(first).isNotDone();
            disconnect(client, connection, true);
            assertThat(Waiting.status(() -> Waiting.join(first)).getCode()).isNotEqualTo(Status.Code.OK);
        }
        Connection made = client.connectTo(server).here();
        assertThat(refusedConnect(connectRequest(1, made.getId())).getCode())
                .isEqualTo(Status.Code.FAILED_PRECONDITION);
    }

    @Test
    void anAttemptThatFailsClosesItAndFlushesItsReceives() {
        long connection = client.createConnection(DEFAULTS).getId();
        try (TestQueue queue = client.queue(2)) {
            queue.credits();
            queue.post(receive(1, connection, outbox, 0, 8).build());

            Status status = refusedConnect(connectRequest(unusedPort(), connection));

            assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(queue.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_FLUSHED);
            assertThat(client.listConnections()).isEmpty();
            assertThat(refusedConnect(connectRequest(1, connection)).getDescription())
                    .contains("connection " + connection + " has ended");
        }
    }

    @Test
    void aNameThatIsNotKnownClosesIt() {
        long connection = client.createConnection(DEFAULTS).getId();

        Status status = refusedConnect(connectRequest(1, connection).toBuilder()
                .setAddress("peer.invalid")
                .build());

        assertThat(status.getCode()).isNotEqualTo(Status.Code.OK);
        Awaitility.await().until(() -> client.listConnections().isEmpty());
    }

    @Test
    void aCallThatIsRefusedLeavesItIdle() {
        Connection created = client.createConnection(DEFAULTS);
        ConnectRequest request = connectRequest(1, created.getId());

        Status options = refusedConnect(request.toBuilder().setOptions(DEFAULTS).build());
        Status tooLong = refusedConnect(request.toBuilder()
                .setPrivateData(ByteString.copyFrom(new byte[1000]))
                .build());
        Status noAddress = refusedConnect(request.toBuilder().setPort(0).build());
        Status posts = refusedConnect(
                request.toBuilder().setConnection(0).setAfterPosts(1).build());
        Status unknown = refusedConnect(request.toBuilder().setConnection(4711).build());

        assertThat(options.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(options.getDescription()).contains("were given to CreateConnection; leave options unset");
        assertThat(tooLong.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(noAddress.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(posts.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(posts.getDescription()).startsWith("after_posts is 1, but connection is not set");
        assertThat(unknown.getCode()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(client.listConnections()).containsExactly(created);
    }

    @Test
    void theCallWaitsForTheWorkThatWasPosted() {
        long connection = client.createConnection(DEFAULTS).getId();
        try (TestQueue queue = client.queue(4);
                TestSession.Listening listening = server.listen()) {
            queue.credits();
            queue.post(receive(1, connection, outbox, 0, 8).build());
            ConnectRequest request = connectRequest(listening.port(), connection).toBuilder()
                    .setAfterPosts(2)
                    .build();

            Status status = refusedConnect(request);

            assertThat(status.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
            assertThat(status.getDescription()).startsWith("after_posts is 2, but only 1 work requests");
            assertThat(state(connection)).isEqualTo(ConnectionState.CONNECTION_STATE_IDLE);
            CompletableFuture<Connection> connecting = client.connect(request);
            queue.post(receive(2, connection, outbox, 8, 8).build());
            accept(acceptRequest(listening));
            assertThat(Waiting.join(connecting).getId()).isEqualTo(connection);
        }
    }

    @Test
    void disconnectOfAnIdleOneFlushesItsReceives() {
        for (boolean abort : new boolean[] {true, false}) {
            long connection = client.createConnection(DEFAULTS).getId();
            try (TestQueue queue = client.queue(2)) {
                queue.credits();
                queue.post(receive(1, connection, outbox, 0, 8).build());
                client.device().getDevice(GetDeviceRequest.getDefaultInstance());

                disconnect(client, connection, abort);

                assertThat(queue.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_FLUSHED);
                assertThat(client.listConnections()).isEmpty();
                assertThat(refusedConnect(connectRequest(1, connection)).getDescription())
                        .contains("has ended");
            }
        }
    }

    @Test
    void disconnectEndsACallThatWaitsForWork() {
        long connection = client.createConnection(DEFAULTS).getId();
        CompletableFuture<Connection> connecting = client.connect(
                connectRequest(1, connection).toBuilder().setAfterPosts(1).build());

        disconnect(client, connection, true);

        Status status = Waiting.status(() -> Waiting.join(connecting));
        assertThat(status.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
    }

    @Test
    void theEndOfTheSessionClosesIt() {
        long connection = client.createConnection(DEFAULTS).getId();
        try (TestQueue queue = client.queue(2)) {
            queue.credits();
            queue.post(receive(1, connection, outbox, 0, 8).build());
            client.device().getDevice(GetDeviceRequest.getDefaultInstance());

            client.device()
                    .closeSession(CloseSessionRequest.newBuilder()
                            .setSession(client.token())
                            .build());

            assertThat(queue.next().getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_FLUSHED);
        }
    }

    @Test
    void itsStatesAreTold() {
        long connection = client.createConnection(DEFAULTS).getId();
        try (TestSession.Listening listening = server.listen()) {
            CompletableFuture<Connection> connecting = client.connect(connectRequest(listening.port(), connection));
            accept(acceptRequest(listening));
            Waiting.join(connecting);
        }
        disconnect(client, connection, false);

        List<ConnectionState> states = new ArrayList<>();
        while (!states.contains(ConnectionState.CONNECTION_STATE_CLOSED)) {
            OpenSessionResponse event = client.nextEvent();
            ConnectionStateChange change = event.getConnection();
            assertThat(change.getConnection()).isEqualTo(connection);
            states.add(change.getState());
        }
        assertThat(states)
                .startsWith(ConnectionState.CONNECTION_STATE_CONNECTING, ConnectionState.CONNECTION_STATE_ESTABLISHED);
    }

    @Test
    void messagesTakeReceivesOfItsSharedReceiveQueue() {
        SharedReceiveQueue shared = server.sharedReceives()
                .createSharedReceiveQueue(CreateSharedReceiveQueueRequest.newBuilder()
                        .setSession(server.token())
                        .setCapacity(4)
                        .build())
                .getSharedReceiveQueue();
        long accepting = server.createConnection(ConnectionOptions.newBuilder()
                        .setSharedReceiveQueue(shared.getId())
                        .build())
                .getId();
        try (TestQueue queue = server.queue(4);
                TestSession.Listening listening = server.listen()) {
            queue.credits();
            queue.post(
                    receive(1, accepting, inbox, 0, 8).build(),
                    receive(2, 0, inbox, 0, SIZE)
                            .setSharedReceiveQueue(shared.getId())
                            .build());
            assertThat(queue.next().getMessage()).contains("shared receive queue " + shared.getId());
            CompletableFuture<Connection> connecting =
                    client.connect(client.connectRequest(listening.port()).build());
            // The work of the shared receive queue does not count.
            Connection accepted =
                    accept(acceptRequest(listening).setConnection(accepting).setAfterPosts(1));

            sendFrom(Waiting.join(connecting).getId());

            WorkCompletion received = queue.next();
            assertThat(accepted.getSharedReceiveQueue()).isEqualTo(shared.getId());
            assertThat(received.getId()).isEqualTo(2);
            assertThat(received.getConnection()).isEqualTo(accepting);
        }
    }

    @Test
    void aListenersOptionsCompleteItsOwnButForItsQueues() {
        ListenRequest listen = ListenRequest.newBuilder()
                .setSession(server.token())
                .setAddress("127.0.0.1")
                .setOptions(ConnectionOptions.newBuilder().setIrd(3).setOrd(4).setReceiveQueue(1))
                .build();
        long accepting = server.createConnection(ConnectionOptions.newBuilder()
                        .setOrd(2)
                        .setReceiveQueue(2)
                        .build())
                .getId();
        try (TestQueue queue = server.queue(4);
                TestSession.Listening listening = server.listen(listen)) {
            queue.credits();
            queue.post(
                    receive(1, accepting, inbox, 0, 8).build(),
                    receive(2, accepting, inbox, 0, 8).build());
            CompletableFuture<Connection> connecting =
                    client.connect(client.connectRequest(listening.port()).build());

            Connection accepted =
                    accept(acceptRequest(listening).setConnection(accepting).setAfterPosts(2));

            Waiting.join(connecting);
            assertThat(accepted.getIrd()).isEqualTo(3);
            assertThat(accepted.getOrd()).isEqualTo(2);
            assertThat(queue.isEmpty()).isTrue();
        }
    }

    @Test
    void anAcceptOfARequestThatDoesNotWaitLeavesItIdle() {
        Connection created = server.createConnection(DEFAULTS);

        Status status = Waiting.status(() -> server.connections()
                .accept(AcceptRequest.newBuilder()
                        .setSession(server.token())
                        .setRequest(4711)
                        .setConnection(created.getId())
                        .build()));

        assertThat(status.getCode()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(server.listConnections()).containsExactly(created);
    }

    @Test
    void impossibleOptionsAreRefusedAtOnce() {
        assertThat(Waiting.status(() -> client.createConnection(
                                ConnectionOptions.newBuilder().setMaxFpdu(-1).build()))
                        .getCode())
                .isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(Waiting.status(() -> client.createConnection(ConnectionOptions.newBuilder()
                                .setSendQueue(1 << 20)
                                .build()))
                        .getCode())
                .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(client.listConnections()).isEmpty();
    }

    @Test
    void itCountsForTheSessionFromItsCreationAndForThePeerFromConnectOn() {
        try (TestSidecar limited =
                        TestSidecar.start("sidewarp.limits.connections", "1", "sidewarp.limits.peer-connections", "1");
                TestSession session = limited.session();
                TestSession other = limited.session()) {
            long connection = session.createConnection(DEFAULTS).getId();
            assertThat(Waiting.status(() -> session.createConnection(DEFAULTS)).getDescription())
                    .contains("sidewarp.limits.connections");
            Connection first = other.connectTo(server).here();

            try (TestSession.Listening listening = server.listen()) {
                ConnectRequest request = session.connectRequest(listening.port())
                        .setConnection(connection)
                        .build();
                Status full = Waiting.status(() -> session.connections().connect(request));
                assertThat(full.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
                assertThat(full.getDescription()).contains("sidewarp.limits.peer-connections");

                disconnect(other, first.getId(), false);
                CompletableFuture<Connection> connecting = session.connect(request);
                accept(acceptRequest(listening));
                assertThat(Waiting.join(connecting).getId()).isEqualTo(connection);
            }
            disconnect(session, connection, false);
            session.connectTo(server);
        }
    }
}
