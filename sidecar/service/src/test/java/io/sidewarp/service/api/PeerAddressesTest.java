// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import io.grpc.Status;
import io.sidewarp.service.testing.PlayedNames;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.RejectRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Tests connects to peers whose names have several addresses. */
class PeerAddressesTest extends TwoSidecars {

    private static final String FIRST = "127.0.0.2";
    private static final String SECOND = "127.0.0.1";
    private static final String NAME = PlayedNames.of(FIRST, SECOND);

    @Override
    TestSidecar startLeft() {
        return TestSidecar.start("sidewarp.limits.connections", "1");
    }

    @Test
    void anAddressWhereNobodyListensGivesWayToTheNext() {
        try (TestSession.Listening listening = server.listen()) {
            CompletableFuture<Connection> connecting = connect(listening.port());
            accept(listening);

            assertThat(Waiting.join(connecting).getRemoteAddress()).isEqualTo(SECOND);
            assertThat(client.listConnections()).hasSize(1);
        }
    }

    @Test
    void aConnectionThatWasCreatedBeforeIsConnectedToTheNext() {
        long created =
                client.createConnection(ConnectionOptions.getDefaultInstance()).getId();
        try (TestSession.Listening listening = server.listen()) {
            CompletableFuture<Connection> connecting = client.connect(
                    request(listening.port()).setConnection(created).build());
            accept(listening);

            assertThat(Waiting.join(connecting).getRemoteAddress()).isEqualTo(SECOND);
            assertThat(connecting.join().getId()).isEqualTo(created);
        }
    }

    @Test
    void anAddressThatDoesNotAnswerLeavesTimeForTheNext() throws IOException {
        try (TestSession.Listening listening = server.listen()) {
            int port = listening.port();
            try (SilentAddress silent = new SilentAddress(port)) {
                CompletableFuture<Connection> connecting = client.connect(request(port)
                        .setOptions(ConnectionOptions.newBuilder()
                                .setTimeout(Duration.newBuilder().setSeconds(4)))
                        .build());
                accept(listening);

                assertThat(Waiting.join(connecting).getRemoteAddress()).isEqualTo(SECOND);
                assertThat(silent.waiting).isNotEmpty();
            }
        }
    }

    @Test
    void connectionCountsForTheAddressThatWasReached() throws IOException {
        try (TestSidecar brief = TestSidecar.start("sidewarp.limits.peer-connections", "1");
                TestSession session = brief.session("brief");
                TestSession.Listening listening = server.listen()) {
            int port = listening.port();
            CompletableFuture<Connection> connecting = session.connect(
                    session.connectRequest(port).setAddress(NAME).build());
            accept(listening);
            assertThat(Waiting.join(connecting).getRemoteAddress()).isEqualTo(SECOND);

            Status second = Waiting.status(() -> Waiting.join(session.connect(
                    session.connectRequest(port).setAddress(SECOND).build())));
            Status first = Waiting.status(() -> Waiting.join(session.connect(
                    session.connectRequest(port).setAddress(FIRST).build())));

            assertThat(second.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(first.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        }
    }

    @Test
    void aPeerThatRejectsIsTheOnlyOneThatIsAsked() {
        try (TestSession.Listening second = server.listen()) {
            int port = second.port();
            try (TestSession.Listening first = server.listen(ListenRequest.newBuilder()
                    .setSession(server.token())
                    .setAddress(FIRST)
                    .setPort(port)
                    .build())) {
                assertThat(first.port()).isEqualTo(port);
                CompletableFuture<Connection> rejected = connect(port);
                server.connections()
                        .reject(RejectRequest.newBuilder()
                                .setSession(server.token())
                                .setRequest(first.next().getId())
                                .build());
                assertThat(Waiting.status(() -> Waiting.join(rejected)).getCode())
                        .isEqualTo(Status.Code.ABORTED);
                Awaitility.await().until(() -> client.listConnections().isEmpty());

                // The next one that the second is asked for is another.
                ByteString own = ByteString.copyFromUtf8("for the second");
                client.connect(client.connectRequest(port).setPrivateData(own).build());
                assertThat(second.next().getPrivateData()).isEqualTo(own);
            }
        }
    }

    @Test
    void aNameOfWhichNoAddressIsReachedIsUnavailable() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }

        Status status =
                Waiting.status(() -> client.connections().connect(request(port).build()));

        assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(status.getDescription())
                .startsWith("none of the 2 addresses of the name is reached")
                .contains(FIRST + ":" + port, SECOND + ":" + port);
    }

    private ConnectRequest.Builder request(int port) {
        return client.connectRequest(port).setAddress(NAME);
    }

    private CompletableFuture<Connection> connect(int port) {
        return client.connect(request(port).build());
    }

    private void accept(TestSession.Listening listening) {
        server.connections()
                .accept(AcceptRequest.newBuilder()
                        .setSession(server.token())
                        .setRequest(listening.next().getId())
                        .build());
    }

    /**
     * A port of the first address that answers no SYN. The kernel drops SYNs while the backlog of a listener is full.
     */
    private static final class SilentAddress implements AutoCloseable {

        private static final int BACKLOG = 1;

        private final ServerSocket server;
        private final List<Socket> waiting = new ArrayList<>();

        SilentAddress(int port) throws IOException {
            InetAddress address = InetAddress.ofLiteral(FIRST);
            server = new ServerSocket(port, BACKLOG, address);
            // The kernel lets one more wait.
            for (int i = 0; i <= BACKLOG; i++) {
                waiting.add(new Socket(address, port));
            }
        }

        @Override
        public void close() throws IOException {
            for (Socket socket : waiting) {
                socket.close();
            }
            server.close();
        }
    }
}
