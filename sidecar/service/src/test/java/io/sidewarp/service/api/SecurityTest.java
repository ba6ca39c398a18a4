// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.grpc.StatusRuntimeException;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.service.testing.LogLines;
import io.sidewarp.service.testing.TestAuthority;
import io.sidewarp.service.testing.TestControl;
import io.sidewarp.service.testing.TestIdentity;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.Llp;
import io.sidewarp.v1.Security;
import io.sidewarp.v1.SecurityInUse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests TLS and the permission of peers in the API of two sidecars. */
class SecurityTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");
    private static final String ELSEWHERE = "spiffe://example.org/ns/bank/sa/db";
    private static final ByteString SECRET = ByteString.copyFromUtf8("secret");

    private final TestIdentity cart = AUTHORITY.identity("cart");
    private final TestIdentity db = AUTHORITY.identity("db");
    private TestSidecar left;
    private TestSidecar right;
    private TestSession client;
    private TestSession server;

    @BeforeEach
    void startClient() {
        left = TestSidecar.start(cart.settings());
        awaitReady(left);
        client = left.session("client");
    }

    @AfterEach
    void stop() {
        client.close();
        left.close();
        if (right != null) {
            server.close();
            right.close();
        }
        cart.close();
        db.close();
    }

    /** Starts the sidecar of the server with an identity and these settings. */
    private void startServer(String... settings) {
        right = TestSidecar.start(db.settings(settings));
        awaitReady(right);
        server = right.session("server");
    }

    private static void awaitReady(TestSidecar sidecar) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> sidecar.sidecar().health().isReady());
    }

    private static ConnectionOptions options(Security security) {
        return ConnectionOptions.newBuilder().setSecurity(security).build();
    }

    private ListenRequest.Builder listening(Security security, String... peers) {
        return ListenRequest.newBuilder()
                .setSession(server.token())
                .setAddress("127.0.0.1")
                .setOptions(options(security))
                .addAllAllowedPeers(List.of(peers));
    }

    private ConnectRequest connecting(int port, Security security, String... peers) {
        return connecting(client, port, security, peers);
    }

    private static ConnectRequest connecting(TestSession session, int port, Security security, String... peers) {
        return session.connectRequest(port)
                .setOptions(options(security))
                .setPrivateData(SECRET)
                .addAllAllowedPeers(List.of(peers))
                .build();
    }

    private Connection accept(ConnectionRequest request) {
        return server.connections()
                .accept(AcceptRequest.newBuilder()
                        .setSession(server.token())
                        .setRequest(request.getId())
                        .build())
                .getConnection();
    }

    private static void assertDenied(CompletableFuture<?> call, String... words) {
        assertThatThrownBy(call::join)
                .hasCauseInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("PERMISSION_DENIED")
                .hasMessageContainingAll(words);
    }

    @Test
    void bothApplicationsSeeTheVerifiedIdentityOfTheOtherSide() {
        startServer();
        try (TestSession.Listening listening =
                server.listen(listening(Security.SECURITY_REQUIRED).build())) {
            CompletableFuture<Connection> call =
                    client.connect(connecting(listening.port(), Security.SECURITY_REQUIRED));
            ConnectionRequest request = listening.next();
            assertThat(request.getPeerIdentity()).isEqualTo(AUTHORITY.id("cart"));
            assertThat(request.getSecurity()).isEqualTo(SecurityInUse.SECURITY_IN_USE_TLS);
            Connection there = accept(request);
            Connection here = call.join();

            assertThat(here.getPeerIdentity()).isEqualTo(AUTHORITY.id("db"));
            assertThat(here.getSecurity()).isEqualTo(SecurityInUse.SECURITY_IN_USE_TLS);
            assertThat(there.getPeerIdentity()).isEqualTo(AUTHORITY.id("cart"));
            assertThat(server.listConnections()).singleElement().satisfies(listed -> {
                assertThat(listed.getPeerIdentity()).isEqualTo(AUTHORITY.id("cart"));
                assertThat(listed.getSecurity()).isEqualTo(SecurityInUse.SECURITY_IN_USE_TLS);
            });
            assertThat(right.get("/status.json")).contains("\"TLS, " + AUTHORITY.id("cart") + "\"");
        }
    }

    @Test
    void aPlainConnectionHasNoPeerIdentity() {
        startServer();
        TestSession.Pair pair = client.connectTo(server);

        assertThat(pair.here().getPeerIdentity()).isEmpty();
        assertThat(pair.here().getSecurity()).isEqualTo(SecurityInUse.SECURITY_IN_USE_PLAIN);
        assertThat(pair.there().getSecurity()).isEqualTo(SecurityInUse.SECURITY_IN_USE_PLAIN);
    }

    @Test
    void settingsDecideForCallersThatDoNotSay() {
        startServer("sidewarp.connection.security", "required");
        try (TestSession.Listening listening = server.listen()) {
            int port = listening.port();
            CompletableFuture<Connection> call = client.connect(connecting(port, Security.SECURITY_PREFERRED));
            assertThat(accept(listening.next()).getSecurity()).isEqualTo(SecurityInUse.SECURITY_IN_USE_TLS);
            call.join();

            assertDenied(
                    client.connect(connecting(port, Security.SECURITY_PLAIN)), "it takes only connections with TLS");
        }
    }

    @Test
    void namedPeersAreDeniedBeforeTheApplicationSeesTheirRequest() {
        startServer();
        try (TestSession.Listening listening = server.listen(
                listening(Security.SECURITY_UNSPECIFIED, "ns/shop/sa/web").build())) {
            int port = listening.port();
            assertDenied(
                    client.connect(connecting(port, Security.SECURITY_REQUIRED)),
                    "it does not permit the identity of this side");
            assertDenied(
                    client.connect(connecting(port, Security.SECURITY_PLAIN)), "it takes only connections with TLS");
            try (TestIdentity web = AUTHORITY.identity("web");
                    TestSidecar permitted = TestSidecar.start(web.settings());
                    TestSession session = permitted.session("permitted")) {
                awaitReady(permitted);
                CompletableFuture<Connection> call =
                        session.connect(connecting(session, port, Security.SECURITY_REQUIRED));
                ConnectionRequest first = listening.next();
                assertThat(first.getPeerIdentity()).isEqualTo(AUTHORITY.id("web"));
                accept(first);
                call.join();
            }
        }
    }

    @Test
    void denialsAreCountedAndLoggedWithBothIdentitiesAndTheRemedy() {
        startServer("sidewarp.advanced.log.messages-per-minute", "2");
        try (LogLines lines = LogLines.warnings("io.sidewarp.peer");
                TestSession.Listening listening = server.listen(
                        listening(Security.SECURITY_REQUIRED, "ns/shop/sa/web").build())) {
            int port = listening.port();
            for (int i = 0; i < 3; i++) {
                assertDenied(client.connect(connecting(port, Security.SECURITY_REQUIRED)), "does not permit");
            }
            assertDenied(client.connect(connecting(port, Security.SECURITY_PLAIN)), "only connections with TLS");

            assertThat(lines.all())
                    .filteredOn(line -> line.startsWith("event=connection-denied "))
                    .hasSize(2)
                    .allSatisfy(line -> assertThat(line)
                            .contains(
                                    "remote=/127.0.0.1:",
                                    "reason=not_permitted",
                                    "is " + AUTHORITY.id("cart") + ", which this listener does not permit",
                                    "permit that peer if it should connect",
                                    "this side is " + AUTHORITY.id("db")));
            assertThat(right.get("/q/metrics").lines())
                    .anyMatch(line ->
                            line.matches("sidewarp_connections_denied_total\\{.*reason=\"not_permitted\"\\} 3.0"))
                    .anyMatch(line ->
                            line.matches("sidewarp_connections_denied_total\\{.*reason=\"tls_required\"\\} 1.0"));
        }
    }

    @Test
    void aCertificateOfAnotherAuthorityIsDeniedByAnAlert() {
        TestAuthority impostor = new TestAuthority("example.org");
        cart.write(impostor.leaf("cart"), AUTHORITY.certificate());
        startServer();
        try (TestSidecar stranger = TestSidecar.start(cart.settings());
                TestSession session = stranger.session("stranger");
                LogLines lines = LogLines.warnings("io.sidewarp.peer");
                TestSession.Listening listening =
                        server.listen(listening(Security.SECURITY_REQUIRED).build())) {
            awaitReady(stranger);
            assertDenied(
                    session.connect(session.connectRequest(listening.port())
                            .setOptions(options(Security.SECURITY_REQUIRED))
                            .build()),
                    "the peer refuses the certificate of this side, " + AUTHORITY.id("cart"));

            assertThat(lines.all())
                    .singleElement()
                    .asString()
                    .contains("event=connection-denied", "reason=certificate", "is not trusted", AUTHORITY.id("db"));
            assertThat(right.get("/q/metrics").lines())
                    .anyMatch(line ->
                            line.matches("sidewarp_connections_denied_total\\{.*reason=\"certificate\"\\} 1.0"));
        }
    }

    @Test
    void connectVerifiesThePeerBeforePrivateDataIsSent() {
        startServer();
        try (TestSession.Listening listening =
                server.listen(listening(Security.SECURITY_REQUIRED).build())) {
            int port = listening.port();
            assertDenied(
                    client.connect(connecting(port, Security.SECURITY_UNSPECIFIED, "ns/shop/sa/web")),
                    "is " + AUTHORITY.id("db") + ", which this connection does not permit");
            CompletableFuture<Connection> call =
                    client.connect(connecting(port, Security.SECURITY_UNSPECIFIED, "ns/shop/sa/web", "ns/*/sa/d*"));

            ConnectionRequest first = listening.next();
            assertThat(first.getPrivateData()).isEqualTo(SECRET);
            accept(first);
            assertThat(call.join().getPeerIdentity()).isEqualTo(AUTHORITY.id("db"));
        }
    }

    /** Starts the sidecar of the server with an identity in another namespace. */
    private void startElsewhere() {
        db.write(
                AUTHORITY.sign(builder -> builder.validity(
                                Instant.now().minusSeconds(60), Instant.now().plusSeconds(3600))
                        .uri(ELSEWHERE)),
                AUTHORITY.certificate());
        startServer();
    }

    @Test
    void connectReachesOnlyItsOwnNamespaceByDefault() {
        startElsewhere();
        try (TestSession.Listening listening =
                server.listen(listening(Security.SECURITY_REQUIRED).build())) {
            int port = listening.port();
            assertDenied(
                    client.connect(connecting(port, Security.SECURITY_REQUIRED)),
                    ELSEWHERE + ", which this connection does not permit");
            CompletableFuture<Connection> call =
                    client.connect(connecting(port, Security.SECURITY_UNSPECIFIED, "ns/bank/**"));
            accept(listening.next());
            assertThat(call.join().getPeerIdentity()).isEqualTo(ELSEWHERE);
        }
    }

    /** Verbs cannot name the peers of a connection. */
    @ParameterizedTest
    @CsvSource({"'', false", "ns/bank/sa/db, true", "ns/shop/**, false"})
    void verbsProgramsReachThePeersOfTheAdministratorAndElseTheirOwnNamespace(String peers, boolean connects) {
        startElsewhere();
        try (TestSidecar verbs = TestSidecar.start(
                        cart.settings("sidewarp.connection.security", "required", "sidewarp.connection.peers", peers));
                TestSession.Listening listening =
                        server.listen(listening(Security.SECURITY_REQUIRED).build())) {
            awaitReady(verbs);
            try (TestControl program = TestControl.open(verbs)) {
                long connect = program.connect(program.createConnection(), listening.port(), "");

                if (connects) {
                    accept(listening.next());
                    assertThat(TestControl.type(program.answer(connect))).isEqualTo(ControlRecord.DONE);
                } else {
                    assertThat(TestControl.text(program.answer(connect)))
                            .contains(ELSEWHERE + ", which this connection does not permit");
                }
            }
        }
    }

    @Test
    void peersOfTheAdministratorCannotBeWidenedByCallers() {
        startServer("sidewarp.connection.peers", "ns/shop/sa/web, ns/shop/sa/w*");
        for (Security weak : List.of(Security.SECURITY_PLAIN, Security.SECURITY_PREFERRED)) {
            try (TestSession.Listening refused = server.listen(listening(weak).build())) {
                assertThatThrownBy(refused::port)
                        .hasMessageContainingAll("PERMISSION_DENIED", weak.name(), "setting sidewarp.connection.peers");
            }
        }
        try (TestSession.Listening listening = server.listen(
                listening(Security.SECURITY_UNSPECIFIED, "ns/shop/**").build())) {
            int port = listening.port();
            assertDenied(
                    client.connect(connecting(port, Security.SECURITY_REQUIRED)),
                    "it does not permit the identity of this side");
        }
    }

    @Test
    void plainPeersConnectWhereTheAdministratorPermitsThem() {
        startServer("sidewarp.connection.peers", "ns/shop/sa/web", "sidewarp.connection.plain-peers", "true");
        try (TestSession.Listening listening = server.listen()) {
            int port = listening.port();
            CompletableFuture<Connection> call = client.connect(connecting(port, Security.SECURITY_PLAIN));
            assertThat(listening.next().getSecurity()).isEqualTo(SecurityInUse.SECURITY_IN_USE_PLAIN);
            call.cancel(true);

            assertDenied(
                    client.connect(connecting(port, Security.SECURITY_REQUIRED)),
                    "it does not permit the identity of this side");
        }
    }

    @Test
    void requiredSecurityIsRefusedOverSctpWithTheRemedy() {
        startServer("sidewarp.sctp.udp-port", "0");
        try (TestSession.Listening refused = server.listen(
                listening(Security.SECURITY_REQUIRED).setLlp(Llp.LLP_SCTP).build())) {
            assertThatThrownBy(refused::port)
                    .hasMessageContainingAll("INVALID_ARGUMENT", "SCTP have no TLS; use TCP, or `plain` with IPsec");
        }
    }

    @Test
    void aSidecarWithoutIdentityRefusesRequiredSecurityWithTheSetting() {
        try (TestSidecar without = TestSidecar.start();
                TestSession session = without.session()) {
            assertThatThrownBy(() -> session.connections()
                            .connect(session.connectRequest(1)
                                    .setOptions(options(Security.SECURITY_REQUIRED))
                                    .build()))
                    .hasMessageContainingAll("FAILED_PRECONDITION", "set sidewarp.identity.source to builtin");
        }
    }

    @Test
    void invalidPeersAreNamed() {
        assertThatThrownBy(() -> client.connections()
                        .connect(connecting(1, Security.SECURITY_UNSPECIFIED, "ns/shop/**", "shop/cart")))
                .hasMessageContainingAll("INVALID_ARGUMENT", "allowed_peers: the pattern of peers `shop/cart`");
        assertThatThrownBy(() -> client.connections().connect(connecting(1, Security.SECURITY_PLAIN, "ns/shop/**")))
                .hasMessageContainingAll("INVALID_ARGUMENT", "SECURITY_PLAIN, which authenticates no peer");
    }
}
