// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.sge;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import io.grpc.Status;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.CrcPreference;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.Llp;
import io.sidewarp.v1.MpaOptions;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.SendRequest;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.WatchConnectionRequest;
import io.sidewarp.v1.WatchConnectionResponse;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests the creation of connections and listeners, their limits, and their end. */
class ConnectionTest extends TwoSidecars {

    @Override
    TestSidecar startLeft() {
        return TestSidecar.start("sidewarp.limits.connections", "2");
    }

    @Override
    TestSidecar startRight() {
        return TestSidecar.start("sidewarp.limits.listeners", "1");
    }

    @Test
    void bothSidesLearnWhatWasAgreed() {
        try (TestSession.Listening listening = server.listen()) {
            CompletableFuture<Connection> connecting = client.connect(client.connectRequest(listening.port())
                    .setPrivateData(ByteString.copyFromUtf8("from the client"))
                    .setOptions(ConnectionOptions.newBuilder().setIrd(3).setOrd(5))
                    .build());
            ConnectionRequest request = listening.next();
            Connection there = server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(request.getId())
                            .setPrivateData(ByteString.copyFromUtf8("from the server"))
                            .setOptions(ConnectionOptions.newBuilder().setIrd(5).setOrd(3))
                            .build())
                    .getConnection();
            Connection here = Waiting.join(connecting);

            assertThat(request.getPrivateData().toStringUtf8()).isEqualTo("from the client");
            assertThat(here.getPrivateData().toStringUtf8()).isEqualTo("from the server");
            assertThat(here.getState()).isEqualTo(ConnectionState.CONNECTION_STATE_ESTABLISHED);
            assertThat(here.getInitiator()).isTrue();
            assertThat(there.getInitiator()).isFalse();
            assertThat(here.getCrc()).isTrue();
            assertThat(here.getOrd()).isEqualTo(5);
            assertThat(there.getIrd()).isEqualTo(5);
            assertThat(here.getLlp()).isEqualTo(Llp.LLP_TCP);
            assertThat(here.getMulpdu()).isGreaterThan(1000);
            assertThat(here.getLocalPort()).isEqualTo(there.getRemotePort());
            assertThat(here.getRemoteAddress()).isEqualTo("127.0.0.1");
            assertThat(here.getSessionName()).isEqualTo("client");
        }
    }

    @Test
    void aRequestIsAnsweredOnce() {
        try (TestSession.Listening listening = server.listen()) {
            CompletableFuture<Connection> connecting =
                    client.connect(client.connectRequest(listening.port()).build());
            AcceptRequest accept = AcceptRequest.newBuilder()
                    .setSession(server.token())
                    .setRequest(listening.next().getId())
                    .build();
            server.connections().accept(accept);
            Waiting.join(connecting);

            assertThat(Waiting.status(() -> server.connections().accept(accept)).getCode())
                    .isEqualTo(Status.Code.NOT_FOUND);
        }
    }

    @Test
    @Requirement("RDMAP-8.1.1-11")
    void fieldsThatCannotWorkAreNamed() {
        assertThat(refused(client.connectRequest(0))).startsWith("port is 0; allowed: 1 to 65535");
        assertThat(refused(client.connectRequest(1).setAddress(""))).startsWith("address is empty");
        assertThat(refused(client.connectRequest(1).setPrivateData(ByteString.copyFrom(new byte[513]))))
                .startsWith("private_data is 513 bytes; allowed: at most 512");
        assertThat(refused(client.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder().setIrd(65))))
                .startsWith("options.ird is 65; allowed: 0 to 64 (setting sidewarp.limits.ird)");
        assertThat(refused(client.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder().setOrd(65))))
                .startsWith("options.ord is 65; allowed: 0 to 64 (setting sidewarp.limits.ord)");
        assertThat(refused(client.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder().setSendQueue(1_000_000))))
                .contains("sidewarp.limits.send-queue");
        assertThat(refused(client.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder()
                                .setTimeout(Duration.newBuilder().setSeconds(-1)))))
                .startsWith("options.timeout is -1 s");
        assertThat(refused(client.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder()
                                .setTimeout(Duration.newBuilder().setNanos(500_000)))))
                .startsWith("options.timeout is 0.0005 s; allowed: 1 ms");
        assertThat(refused(client.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder().setLlpValue(4711))))
                .startsWith("llp is 4711");
        assertThat(refused(client.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder()
                                .setMpa(MpaOptions.newBuilder().addReadyIndicationsValue(4711)))))
                .startsWith("options.mpa.ready_indications is 4711");
        assertThat(refused(client.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder().setProtectionDomain(4711))))
                .startsWith("protection_domain 4711");
    }

    @Test
    void aListenerWithOptionsThatNoConnectionCanHaveIsRefused() {
        assertThat(refusedListener(ConnectionOptions.newBuilder().setIrd(65))).startsWith("options.ird is 65");
        assertThat(refusedListener(ConnectionOptions.newBuilder().setProtectionDomain(4711)))
                .startsWith("protection_domain 4711");
        assertThat(refusedListener(ConnectionOptions.newBuilder().setSharedReceiveQueue(4711)))
                .startsWith("shared_receive_queue 4711");
    }

    @Test
    void aListenerAndItsConnectionsHaveTheSameLowerLayer() {
        ConnectionOptions sctp =
                ConnectionOptions.newBuilder().setLlp(Llp.LLP_SCTP).build();
        assertThat(refusedListener(sctp.toBuilder()))
                .startsWith("options.llp is LLP_SCTP")
                .contains("is LLP_TCP");
        try (TestSession.Listening listening = server.listen()) {
            client.connect(client.connectRequest(listening.port()).build());
            AcceptRequest.Builder accept = AcceptRequest.newBuilder()
                    .setSession(server.token())
                    .setRequest(listening.next().getId());

            Status refused = Waiting.status(() ->
                    server.connections().accept(accept.clone().setOptions(sctp).build()));

            assertThat(refused.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
            assertThat(refused.getDescription()).startsWith("options.llp is LLP_SCTP");
            ConnectionOptions tcp =
                    ConnectionOptions.newBuilder().setLlp(Llp.LLP_TCP).build();
            assertThat(server.connections()
                            .accept(accept.setOptions(tcp).build())
                            .hasConnection())
                    .isTrue();
        }
    }

    private String refusedListener(ConnectionOptions.Builder options) {
        TestSession.Listening refused = client.listen(ListenRequest.newBuilder()
                .setSession(client.token())
                .setAddress("127.0.0.1")
                .setOptions(options)
                .build());
        return Status.fromThrowable(Waiting.join(refused.failure())).getDescription();
    }

    @Test
    void whoUsesAConnectionAfterItsEndIsToldWhatEndedIt() {
        Region source = client.managed(16);
        SendRequest send = SendRequest.newBuilder()
                .setSession(client.token())
                .setConnection(client.connectTo(server).here().getId())
                .setWork(SendWork.newBuilder().addLocal(sge(source, 0, 16)))
                .build();
        client.transfer().send(send);
        Awaitility.await()
                .until(() -> client.nextEvent().getConnection().getState() == ConnectionState.CONNECTION_STATE_CLOSED);

        Status status = Waiting.status(() -> client.transfer().send(send));

        // The status of the error that ended it: the peer had no receive.
        assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(status.getDescription()).contains("no buffer available");
    }

    @Test
    @Requirement("MPA-4.4-01")
    void connectionsWithoutCrcNeedTheConsentOfTheAdministrator() {
        Status status = Waiting.status(() -> client.connections()
                .connect(client.connectRequest(1)
                        .setOptions(ConnectionOptions.newBuilder().setCrc(CrcPreference.CRC_PREFERENCE_OFF))
                        .build()));

        assertThat(status.getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(status.getDescription()).contains("sidewarp.connection.allow-crc-off");
    }

    @Test
    void theNumberOfConnectionsIsLimitedUntilSomeAreClosed() {
        Connection first = client.connectTo(server).here();
        awaitNoListeners();
        client.connectTo(server);
        awaitNoListeners();

        Status status = Waiting.status(
                () -> client.connections().connect(client.connectRequest(1).build()));
        client.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(first.getId())
                        .build());

        assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(status.getDescription()).contains("sidewarp.limits.connections");
        // The server's side is limited as well, and learns of the end a moment later.
        Awaitility.await().until(() -> server.listConnections().size() == 1);
        client.connectTo(server);
    }

    /** The server may have one listener, and learns a moment later that its call has ended. */
    private void awaitNoListeners() {
        Awaitility.await()
                .until(() ->
                        server
                                .device()
                                .listSessions(ListSessionsRequest.getDefaultInstance())
                                .getSessionsList()
                                .stream()
                                .allMatch(session -> session.getListeners() == 0));
    }

    @Test
    void theNumberOfListenersIsLimitedUntilACallEnds() {
        TestSession.Listening first = server.listen();
        first.port();
        assertThat(Status.fromThrowable(Waiting.join(server.listen().failure())).getDescription())
                .contains("sidewarp.limits.listeners");

        first.close();

        Awaitility.await().until(() -> {
            try (TestSession.Listening next = server.listen()) {
                return next.port() > 0;
            } catch (AssertionError e) {
                return false;
            }
        });
    }

    @Test
    void aPortInUseIsNamed() {
        try (TestSession.Listening taken = server.listen()) {
            int port = taken.port();
            TestSession.Listening refused = client.listen(ListenRequest.newBuilder()
                    .setSession(client.token())
                    .setAddress("127.0.0.1")
                    .setPort(port)
                    .build());

            Status status = Status.fromThrowable(Waiting.join(refused.failure()));

            assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(status.getDescription()).contains(Integer.toString(port));
        }
    }

    @Test
    void watchersSeeEveryStateUntilTheEnd() {
        TestSession.Pair pair = client.connectTo(server);
        Iterator<WatchConnectionResponse> changes = client.connections()
                .watchConnection(WatchConnectionRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(pair.here().getId())
                        .build());
        List<ConnectionState> states = new ArrayList<>();
        states.add(changes.next().getChange().getState());

        server.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(server.token())
                        .setConnection(pair.there().getId())
                        .build());
        changes.forEachRemaining(change -> states.add(change.getChange().getState()));

        assertThat(states)
                .startsWith(ConnectionState.CONNECTION_STATE_ESTABLISHED)
                .endsWith(ConnectionState.CONNECTION_STATE_CLOSED)
                .doesNotContain(ConnectionState.CONNECTION_STATE_TERMINATED);
    }

    @Test
    void disconnectingTwiceIsNoError() {
        long connection = client.connectTo(server).here().getId();
        DisconnectRequest disconnect = DisconnectRequest.newBuilder()
                .setSession(client.token())
                .setConnection(connection)
                .setAbort(true)
                .build();

        client.connections().disconnect(disconnect);
        client.connections().disconnect(disconnect);

        assertThat(client.listConnections()).isEmpty();
    }

    @Test
    void aConnectionOutlivesTheListenerThatAcceptedIt() {
        TestSession.Pair pair = client.connectTo(server);

        // The Listen call was cancelled by connectTo.
        Awaitility.await()
                .until(() -> server.device()
                                .listSessions(ListSessionsRequest.getDefaultInstance())
                                .getSessions(0)
                                .getListeners()
                        == 0);
        assertThat(server.listConnections())
                .extracting(Connection::getId)
                .containsExactly(pair.there().getId());
    }

    private String refused(ConnectRequest.Builder request) {
        return Waiting.status(() -> client.connections().connect(request.build()))
                .getDescription();
    }
}
