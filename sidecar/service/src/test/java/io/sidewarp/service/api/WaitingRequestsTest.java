// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.Session;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.service.testing.SlowReader;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.AcceptResponse;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.MpaOptions;
import io.sidewarp.v1.RejectRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the sidecar's limits on undecided connection requests. */
class WaitingRequestsTest {

    private static final int PRIVATE_DATA = 512;
    /** One byte more than fits into an enhanced start-up, but less than fits into another start-up. */
    private static final ByteString TOO_LONG = ByteString.copyFrom(new byte[509]);
    /** Far more than the transport takes for a client that does not read. */
    private static final int DEPARTED = 300;

    private static final int WINDOW = 16 << 10;

    private static final int RACES = 50;

    /** Half a second less than the longest time that there is. */
    private static final Duration HOUR_LESS =
            Duration.newBuilder().setSeconds(3599).setNanos(500_000_000).build();

    private TestSidecar sidecar;
    private TestSession session;

    @BeforeEach
    void start() {
        sidecar = TestSidecar.start("sidewarp.connection.timeout", "1h");
        session = sidecar.session();
    }

    @AfterEach
    void stop() {
        session.close();
        sidecar.close();
    }

    /** A peer that asks to connect. */
    private static Socket ask(int port) throws IOException {
        Socket peer = new Socket(InetAddress.getLoopbackAddress(), port);
        peer.getOutputStream()
                .write(ByteBuffer.allocate(20 + PRIVATE_DATA)
                        .put("MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII))
                        .put(new byte[] {0x40, 1, PRIVATE_DATA >> 8, 0})
                        .array());
        return peer;
    }

    /** Peers that asked have left, and the sidecar knows. */
    private void awaitDepartures(int count) {
        Awaitility.await()
                .untilAsserted(() -> assertThat(sidecar.get("/q/metrics").lines())
                        .filteredOn(line -> line.startsWith("sidewarp_startup_failures_total{")
                                && line.contains("reason=\"startup\""))
                        .singleElement()
                        .asString()
                        .endsWith("} " + count + ".0"));
    }

    @Test
    void aRequestWhosePeerLeftIsThereNoMore() throws IOException {
        try (TestSession.Listening listening = session.listen()) {
            Socket peer = ask(listening.port());
            long request = listening.next().getId();

            peer.close();
            awaitDepartures(1);

            Status status = Waiting.status(
                    () -> session.connections().accept(accept(request).build()));
            assertThat(status.getCode()).isEqualTo(Status.Code.NOT_FOUND);
        }
    }

    @Test
    void anAcceptThatComesSecondIsNoFailureOfStartUp() {
        try (TestSession.Listening listening = session.listen()) {
            int port = listening.port();
            for (int i = 0; i < RACES; i++) {
                CompletableFuture<Connection> connecting = connect(port);
                AcceptRequest accept = accept(listening.next().getId()).build();
                var calls = ConnectionServiceGrpc.newFutureStub(session.channel());
                Future<AcceptResponse> first = calls.accept(accept);
                Future<AcceptResponse> second = calls.accept(accept);
                Waiting.join(connecting);

                assertThat(first).succeedsWithin(20, TimeUnit.SECONDS);
                assertThat(second)
                        .failsWithin(20, TimeUnit.SECONDS)
                        .withThrowableOfType(ExecutionException.class)
                        .havingCause()
                        .returns(
                                Status.Code.NOT_FOUND,
                                cause -> Status.fromThrowable(cause).getCode());
            }
        }
        assertThat(sidecar.get("/q/metrics").lines())
                .filteredOn(line ->
                        line.startsWith("sidewarp_startup_failures_total{") && line.contains("role=\"responder\""))
                .isNotEmpty()
                .allMatch(line -> line.endsWith("} 0.0"));
    }

    /** A connection whose start-up leaves the answer room for 508 octets. */
    private CompletableFuture<Connection> connect(int port) {
        return session.connect(session.connectRequest(port)
                .setOptions(ConnectionOptions.newBuilder()
                        .setMpa(MpaOptions.newBuilder().setRequestRevision(2)))
                .build());
    }

    private AcceptRequest.Builder accept(long request) {
        return AcceptRequest.newBuilder().setSession(session.token()).setRequest(request);
    }

    private RejectRequest.Builder reject(long request) {
        return RejectRequest.newBuilder().setSession(session.token()).setRequest(request);
    }

    @Test
    void aRequestCanBeAcceptedAfterAnAcceptThatWasRefused() {
        try (TestSession.Listening listening = session.listen()) {
            CompletableFuture<Connection> connecting = connect(listening.port());
            long request = listening.next().getId();

            AcceptRequest tooLong = accept(request).setPrivateData(TOO_LONG).build();
            assertThat(Waiting.status(() -> session.connections().accept(tooLong))
                            .getCode())
                    .isEqualTo(Status.Code.INVALID_ARGUMENT);

            session.connections().accept(accept(request).build());
            assertThat(Waiting.join(connecting).getState()).isEqualTo(ConnectionState.CONNECTION_STATE_ESTABLISHED);
        }
    }

    @Test
    void aRequestTellsHowMuchPrivateDataItsAnswerTakes() throws IOException {
        try (TestSession.Listening listening = session.listen()) {
            int port = listening.port();
            CompletableFuture<Connection> connecting = connect(port);
            ConnectionRequest enhanced = listening.next();
            try (Socket plain = ask(port)) {
                assertThat(plain.isConnected()).isTrue();
                assertThat(listening.next().getMaxPrivateData()).isEqualTo(512);
            }

            assertThat(enhanced.getMaxPrivateData()).isEqualTo(508);
            session.connections()
                    .accept(accept(enhanced.getId())
                            .setPrivateData(ByteString.copyFrom(new byte[508]))
                            .build());
            assertThat(Waiting.join(connecting).getPrivateData().size()).isEqualTo(508);
        }
    }

    @Test
    void aRequestCanBeRejectedAfterAnswersThatWereRefused() {
        try (TestSession.Listening listening = session.listen()) {
            CompletableFuture<Connection> connecting = connect(listening.port());
            long request = listening.next().getId();

            AcceptRequest accept = accept(request).setPrivateData(TOO_LONG).build();
            assertThat(Waiting.status(() -> session.connections().accept(accept))
                            .getCode())
                    .isEqualTo(Status.Code.INVALID_ARGUMENT);
            RejectRequest reject = reject(request).setPrivateData(TOO_LONG).build();
            assertThat(Waiting.status(() -> session.connections().reject(reject))
                            .getCode())
                    .isEqualTo(Status.Code.INVALID_ARGUMENT);

            session.connections().reject(reject(request).build());
            assertThat(Waiting.status(() -> Waiting.join(connecting)).getCode()).isEqualTo(Status.Code.ABORTED);
        }
    }

    @Test
    void aRequestLapsesInTheTimeOfItsListener() {
        try (TestSession.Listening listening = listen(session, millis(200))) {
            CompletableFuture<Connection> connecting = connect(listening.port());

            assertThat(Waiting.status(() -> Waiting.join(connecting)).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        }
    }

    @Test
    void aRequestWaitsForAsLongAsItsListenerSays() {
        try (TestSidecar hasty = TestSidecar.start("sidewarp.connection.timeout", "300ms");
                TestSession server = hasty.session();
                TestSession.Listening patient = listen(server, HOUR_LESS);
                TestSession.Listening byDefault = server.listen()) {
            CompletableFuture<Connection> connecting = connect(patient.port());
            long request = patient.next().getId();
            CompletableFuture<Connection> lapsing = connect(byDefault.port());
            assertThat(Waiting.status(() -> Waiting.join(lapsing)).getCode()).isEqualTo(Status.Code.UNAVAILABLE);

            // This timeout has no effect. It must not be refused either, although with the listener's half second it
            // would exceed the maximum.
            Duration hour = Duration.newBuilder().setSeconds(3600).build();
            server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(request)
                            .setOptions(ConnectionOptions.newBuilder().setTimeout(hour))
                            .build());

            assertThat(Waiting.join(connecting).getState()).isEqualTo(ConnectionState.CONNECTION_STATE_ESTABLISHED);
        }
    }

    private static Duration millis(int millis) {
        return Duration.newBuilder().setNanos(millis * 1_000_000).build();
    }

    private static TestSession.Listening listen(TestSession server, Duration timeout) {
        return server.listen(ListenRequest.newBuilder()
                .setSession(server.token())
                .setAddress("127.0.0.1")
                .setOptions(ConnectionOptions.newBuilder().setTimeout(timeout))
                .build());
    }

    @Test
    void theRequestIsRejectedWhenTheClientsHandlerFailsWithARefusedAccept() {
        ClientOptions options = ClientOptions.defaults().withTarget("unix://" + sidecar.socket());
        io.sidewarp.client.ConnectionOptions tooLong = io.sidewarp.client.ConnectionOptions.builder()
                .privateData(TOO_LONG.toByteArray())
                .build();
        try (SidewarpClient client = SidewarpClient.connect(options);
                Session listening = client.openSession("listening");
                Listener listener = listening.listen("127.0.0.1", 0, incoming -> incoming.accept(tooLong))) {
            CompletableFuture<Connection> connecting = connect(listener.port());

            assertThat(Waiting.status(() -> Waiting.join(connecting)).getCode()).isEqualTo(Status.Code.ABORTED);
        }
    }

    @Test
    void aClientThatDoesNotReadIsToldLaterOfWhatStillWaits() throws Exception {
        ManagedChannel channel = sidecar.channel(WINDOW);
        try {
            SlowReader<ListenRequest, ListenResponse> client = new SlowReader<>();
            ConnectionServiceGrpc.newStub(channel)
                    .listen(
                            ListenRequest.newBuilder()
                                    .setSession(session.token())
                                    .setAddress("127.0.0.1")
                                    .build(),
                            client);
            int port = client.next().getListening().getPort();
            for (int i = 0; i < DEPARTED; i++) {
                try (Socket peer = ask(port)) {
                    peer.shutdownOutput();
                    assertThat(peer.getInputStream().read()).isNegative();
                }
            }
            awaitDepartures(DEPARTED);
            try (Socket waiting = ask(port)) {
                client.read();

                assertThat(client.until(
                                waiting.getLocalPort(),
                                response -> response.getRequest().getRemotePort()))
                        .hasSizeLessThanOrEqualTo(DEPARTED);
            }
        } finally {
            TestSidecar.close(channel);
        }
    }
}
