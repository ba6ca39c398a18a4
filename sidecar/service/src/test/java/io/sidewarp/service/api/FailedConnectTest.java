// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectResponse;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionRejected;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.RejectRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests the error of a failing Connect, and that nothing remains of it. */
class FailedConnectTest extends TwoSidecars {

    @Override
    TestSidecar startRight() {
        return TestSidecar.start("sidewarp.connection.timeout", "3s");
    }

    @Test
    void aRejectionCarriesThePrivateDataOfThePeer() {
        try (TestSession.Listening listening = server.listen()) {
            CompletableFuture<Connection> connecting =
                    client.connect(client.connectRequest(listening.port()).build());
            server.connections()
                    .reject(RejectRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .setPrivateData(ByteString.copyFromUtf8("no room"))
                            .build());

            StatusRuntimeException failure = Waiting.failure(() -> Waiting.join(connecting));

            assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.ABORTED);
            assertThat(Waiting.detail(failure, ConnectionRejected.class)
                            .getPrivateData()
                            .toStringUtf8())
                    .isEqualTo("no room");
            assertThat(client.listConnections()).isEmpty();
        }
    }

    @Test
    void aRequestThatNobodyAnswersLapses() {
        try (TestSession.Listening listening = server.listen()) {
            CompletableFuture<Connection> connecting =
                    client.connect(client.connectRequest(listening.port()).build());
            long request = listening.next().getId();

            assertThat(Waiting.status(() -> Waiting.join(connecting)).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            Status late = Waiting.status(() -> server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(request)
                            .build()));
            assertThat(late.getCode()).isEqualTo(Status.Code.NOT_FOUND);
            assertThat(server.listConnections()).isEmpty();
        }
    }

    @Test
    void connectingToAPortWhereNobodyListensIsUnavailable() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }

        Status status = Waiting.status(
                () -> client.connections().connect(client.connectRequest(port).build()));

        assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(client.listConnections()).isEmpty();
    }

    @Test
    void aPeerThatNeverAnswersTimesOut() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Status status = Waiting.status(() -> client.connections()
                    .connect(client.connectRequest(silent.getLocalPort())
                            .setOptions(ConnectionOptions.newBuilder()
                                    .setTimeout(Duration.newBuilder().setNanos(200_000_000)))
                            .build()));

            assertThat(status.getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        }
    }

    @Test
    void aPeerThatIsNotIwarpIsToldByAnErrorOfTheLowerLayer() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Connection> connecting =
                    client.connect(client.connectRequest(other.getLocalPort()).build());
            try (Socket greeting = other.accept()) {
                greeting.getOutputStream().write("SSH-2.0-OpenSSH_9.2p1\r\n".getBytes(StandardCharsets.US_ASCII));

                StatusRuntimeException failure = Waiting.failure(() -> Waiting.join(connecting));

                assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                assertThat(Waiting.detail(failure, RdmaError.class))
                        .isEqualTo(RdmaError.newBuilder()
                                .setLayer(2)
                                .setCode(4)
                                .setName("Invalid MPA Request or Response frame")
                                .build());
            }
        }
    }

    @Test
    void aPeerThatOnlyGoesAwayIsNoErrorOfTheProtocol() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Connection> connecting =
                    client.connect(client.connectRequest(other.getLocalPort()).build());
            other.accept().close();

            StatusRuntimeException failure = Waiting.failure(() -> Waiting.join(connecting));

            assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(StatusProto.fromThrowable(failure).getDetailsList())
                    .noneMatch(detail -> detail.is(RdmaError.class));
        }
    }

    @Test
    void aCancelledConnectLeavesNothingBehind() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var call = ConnectionServiceGrpc.newFutureStub(client.channel())
                    .connect(client.connectRequest(silent.getLocalPort()).build());
            Awaitility.await().until(() -> client.listConnections().size() == 1);

            call.cancel(true);

            Awaitility.await().until(() -> client.listConnections().isEmpty());
        }
    }

    @Test
    void aConnectThatIsCancelledBeforeItsAnswerWasSentLeavesNothingBehind() {
        // Takes the headers of the answer, and nothing of the rest.
        ManagedChannel narrow = left.channel(1);
        try (TestSession.Listening listening = server.listen()) {
            ClientCall<ConnectRequest, ConnectResponse> call =
                    narrow.newCall(ConnectionServiceGrpc.getConnectMethod(), CallOptions.DEFAULT);
            CompletableFuture<Metadata> answered = new CompletableFuture<>();
            call.start(
                    new ClientCall.Listener<>() {
                        @Override
                        public void onHeaders(Metadata headers) {
                            answered.complete(headers);
                        }
                    },
                    new Metadata());
            call.sendMessage(client.connectRequest(listening.port()).build());
            call.halfClose();
            server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .build());
            Waiting.join(answered);
            assertThat(client.listConnections()).hasSize(1);

            call.cancel("given up", null);

            Awaitility.await().until(() -> client.listConnections().isEmpty());
        } finally {
            TestSidecar.close(narrow);
        }
    }
}
