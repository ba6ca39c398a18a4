// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.net.tls.TestAuthority.Leaf;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.provider.Endpoint;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests connections with a certificate that one side does not accept. Both sides say whose certificate and what to do. */
@Timeout(60)
final class CertificateFailureTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");
    private static final TestAuthority IMPOSTOR = new TestAuthority("example.org");
    private static final TestAuthority ELSEWHERE = new TestAuthority("example.net");
    private static final SecurityPolicy REQUIRED = SecurityPolicy.of(TlsUse.REQUIRED);

    private static TlsCredentials good(String serviceAccount) {
        return AUTHORITY.credentials(serviceAccount);
    }

    private static TlsCredentials expired(String serviceAccount) {
        Instant now = Instant.now();
        return AUTHORITY
                .leaf(List.of(AUTHORITY.id(serviceAccount)), now.minusSeconds(50), now.minusSeconds(1))
                .trusting(AUTHORITY.anchors());
    }

    private static TlsCredentials early(String serviceAccount) {
        return AUTHORITY
                .leaf(List.of(AUTHORITY.id(serviceAccount)), TestAuthority.hours(1), TestAuthority.hours(2))
                .trusting(AUTHORITY.anchors());
    }

    /**
     * Connects, and compares what both sides say. The initiator of a connection that only prefers TLS fails as well.
     */
    private static void assertFails(TlsCredentials client, TlsCredentials server, String ofInitiator, String ofListener)
            throws Exception {
        for (TlsUse security : List.of(TlsUse.REQUIRED, TlsUse.PREFERRED)) {
            try (TlsBed bed = new TlsBed(client, server)) {
                InetSocketAddress listener = bed.listen(SecurityPolicy.of(TlsUse.PREFERRED));
                assertThat(bed.failure(listener, TlsBed.asking(SecurityPolicy.of(security))))
                        .as("message of the initiator")
                        .containsPattern(ofInitiator);
                assertThat(bed.listenerFailure()).as("message of the listener").containsPattern(ofListener);
                assertThat(bed.requests).isEmpty();
                assertThat(bed.client().plainPeers().contains(listener)).isFalse();
            }
        }
    }

    @Test
    void anExpiredCertificateOfTheListenerIsNamedOnBothSides() throws Exception {
        assertFails(
                good("cart"),
                expired("db"),
                "the certificate of the peer \\(spiffe://example.org/ns/shop/sa/db\\) expired at .*; renew it at the"
                        + " peer",
                "the peer refuses the certificate of this side, spiffe://example.org/ns/shop/sa/db valid until .*"
                        + "certificate_expired.*Renew it");
    }

    @Test
    void anExpiredCertificateOfTheInitiatorIsNamedOnBothSides() throws Exception {
        assertFails(
                expired("cart"),
                good("db"),
                "the peer refuses the certificate of this side, spiffe://example.org/ns/shop/sa/cart valid until"
                        + " .*Renew it",
                "the certificate of the peer \\(spiffe://example.org/ns/shop/sa/cart\\) expired at");
    }

    @Test
    void aCertificateThatIsNotValidYetPointsToTheClocks() throws Exception {
        assertFails(
                good("cart"),
                early("db"),
                "the certificate of the peer \\(.*/db\\) is not valid before .*; set the clocks of both hosts",
                "the peer refuses the certificate of this side, .*/db ");
        assertFails(
                early("cart"),
                good("db"),
                "the peer refuses the certificate of this side, .*/cart ",
                "the certificate of the peer \\(.*/cart\\) is not valid before .*; set the clocks of both hosts");
    }

    @Test
    void anotherTrustDomainIsNamedWithTheTrustedOnes() throws Exception {
        assertFails(
                good("cart"),
                ELSEWHERE.leaf("db").trusting(AUTHORITY.anchors()),
                "the peer spiffe://example.net/ns/shop/sa/db is of the trust domain example.net; trusted here are"
                        + " \\[example.org\\]. Use a peer of a trusted one. Further trust domains need the source `spiffe`"
                        + " \\(sidewarp.identity.source\\)",
                "the peer refuses the certificate of this side, spiffe://example.net/ns/shop/sa/db");
    }

    @Test
    void anUntrustedCaIsNamedWithTheIssuer() throws Exception {
        assertFails(
                IMPOSTOR.leaf("cart").trusting(AUTHORITY.anchors()),
                good("db"),
                "the peer refuses the certificate of this side, .*/cart ",
                "the certificate of the peer spiffe://example.org/ns/shop/sa/cart is not trusted: no CA for the trust"
                        + " domain example.org here leads to it \\(issuer CN=CA of example.org: (?!.*(PKIX|Exception))");
    }

    @Test
    void aCaVouchesForItsOwnTrustDomainOnly() throws Exception {
        TlsCredentials trustsBoth = AUTHORITY
                .leaf("cart")
                .trusting(Map.of(
                        "example.org", Set.of(AUTHORITY.certificate()),
                        "example.net", Set.of(ELSEWHERE.certificate())));
        TlsCredentials forged = ELSEWHERE
                .leaf(List.of(AUTHORITY.id("db")), Instant.now().minusSeconds(60), TestAuthority.hours(1))
                .trusting(AUTHORITY.anchors());

        assertFails(
                trustsBoth, forged, "/db is not trusted: no CA for the trust domain example.org", "/db valid until");
    }

    @ParameterizedTest
    @EnumSource(
            value = TlsUse.class,
            names = {"REQUIRED", "PREFERRED"})
    void aListenerAsksForPermissionBeforeTheApplicationHearsOfThePeer(TlsUse security) throws Exception {
        try (TlsBed bed = new TlsBed(good("cart"), good("db"))) {
            InetSocketAddress listener = bed.listen(SecurityPolicy.of(security)
                    .withPeers(peer -> peer.id().path().equals("/ns/shop/sa/web")));
            Endpoint client = new Endpoint(bed.clientDevice, 64);

            assertThat(client.queuePair.connect(listener, TlsBed.asking(REQUIRED)))
                    .failsWithin(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .withThrowableThat()
                    .withMessageContaining("it does not permit the identity of this side; permit that identity");

            assertThat(bed.listenerFailure())
                    .contains("is spiffe://example.org/ns/shop/sa/cart, which this listener does not permit");
            assertThat(bed.requests).isEmpty();
        }
    }

    @Test
    void anInitiatorAsksForPermissionBeforeItSendsPrivateData() throws Exception {
        try (TlsBed bed = new TlsBed(good("cart"), good("db"))) {
            InetSocketAddress listener = bed.listen(REQUIRED);

            assertThat(bed.failure(
                            listener,
                            TlsBed.asking(
                                    REQUIRED.withPeers(peer -> peer.id().path().startsWith("/ns/shop/sa/web")))))
                    .contains("is spiffe://example.org/ns/shop/sa/db, which this connection does not permit");

            assertThat(bed.listenerFailure())
                    .matches(
                            "the peer at /[0-9.:]+ is spiffe://example.org/ns/shop/sa/cart and ended the connection before"
                                    + " MPA began; it may not permit the identity of this side \\(this side is"
                                    + " spiffe://example.org/ns/shop/sa/db\\)");
            assertThat(bed.requests).isEmpty();
        }
    }

    @Test
    void newCredentialsServeNewConnectionsAndKeepOldOnes() throws Exception {
        try (TlsBed bed = new TlsBed(good("cart"), good("db"))) {
            InetSocketAddress listener = bed.listen(REQUIRED);
            Endpoint oldClient = new Endpoint(bed.clientDevice, 64);
            Endpoint oldServer = new Endpoint(bed.serverDevice, 64);
            bed.connect(oldClient, oldServer, listener, TlsBed.asking(REQUIRED));

            bed.replaceServer(good("db2"));
            Endpoint client = new Endpoint(bed.clientDevice, 64);
            Endpoint server = new Endpoint(bed.serverDevice, 64);
            ConnectionAttributes agreed = bed.connect(client, server, listener, TlsBed.asking(REQUIRED));

            assertThat(agreed.tls().peer().id().path()).isEqualTo("/ns/shop/sa/db2");
            assertThat(agreed.tls().resumed()).isFalse();
            assertThat(oldClient.queuePair.attributes().tls().peer().id().path())
                    .isEqualTo("/ns/shop/sa/db");
            oldClient.queuePair.disconnect().get(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS);
            assertThat(oldClient.queuePair.isUnconfirmed()).isFalse();
        }
    }

    @Test
    void aRemovedCaEndsTheTrustInTicketsAsWell() throws Exception {
        TestAuthority successor = new TestAuthority("example.org");
        Leaf server = AUTHORITY.leaf("db");
        try (TlsBed bed = new TlsBed(good("cart"), server.trusting(AUTHORITY.anchors()))) {
            InetSocketAddress listener = bed.listen(REQUIRED);
            Endpoint client = new Endpoint(bed.clientDevice, 64);
            bed.connect(client, new Endpoint(bed.serverDevice, 64), listener, TlsBed.asking(REQUIRED));
            client.disconnect();

            bed.replaceServer(server.trusting(successor.anchors()));

            assertThat(bed.failure(listener, TlsBed.asking(REQUIRED)))
                    .contains("the peer refuses the certificate of this side, " + AUTHORITY.id("cart"))
                    .contains("give the CA of this side to the peer");
            assertThat(bed.listenerFailure())
                    .contains("the certificate of the peer " + AUTHORITY.id("cart") + " is not trusted")
                    .contains("renew the bundle of CAs here or the peer's certificate");
            assertThat(bed.requests).isEmpty();
        }
    }

    @Test
    void aTicketReplacesTheExchangeOfCertificates() throws Exception {
        try (TlsBed bed = new TlsBed(good("cart"), good("db"))) {
            InetSocketAddress listener = bed.listen(REQUIRED);
            boolean resumed = false;
            for (int attempt = 0; attempt < 2; attempt++) {
                Endpoint client = new Endpoint(bed.clientDevice, 64);
                Endpoint server = new Endpoint(bed.serverDevice, 64);
                ConnectionAttributes agreed = bed.connect(client, server, listener, TlsBed.asking(REQUIRED));
                resumed = agreed.tls().resumed();
                assertThat(resumed).isEqualTo(attempt > 0);
                assertThat(server.queuePair.attributes().tls().resumed()).isEqualTo(attempt > 0);
                assertThat(agreed.tls().peer().id()).hasToString(AUTHORITY.id("db"));
                assertThat(server.queuePair.attributes().tls().peer().id()).hasToString(AUTHORITY.id("cart"));
                client.queuePair.disconnect().get(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void aTicketDoesNotOutliveTheCertificate() throws Exception {
        Instant expiry = Instant.now().plusSeconds(5);
        TlsCredentials brief = AUTHORITY
                .leaf(List.of(AUTHORITY.id("db")), Instant.now().minusSeconds(60), expiry)
                .trusting(AUTHORITY.anchors());
        try (TlsBed bed = new TlsBed(good("cart"), brief)) {
            InetSocketAddress listener = bed.listen(REQUIRED);
            Endpoint client = new Endpoint(bed.clientDevice, 64);
            bed.connect(client, new Endpoint(bed.serverDevice, 64), listener, TlsBed.asking(REQUIRED));
            client.disconnect();

            Awaitility.await().until(() -> Instant.now().isAfter(expiry.plusSeconds(1)));

            assertThat(bed.failure(listener, TlsBed.asking(REQUIRED)))
                    .contains("the certificate of the peer (" + AUTHORITY.id("db") + ") expired at");
            assertThat(bed.requests).isEmpty();
        }
    }

    @Test
    void anInitiatorWithATicketIsToldThatItsCertificateExpired() throws Exception {
        Instant expiry = Instant.now().plusSeconds(5);
        TlsCredentials brief = AUTHORITY
                .leaf(List.of(AUTHORITY.id("cart")), Instant.now().minusSeconds(60), expiry)
                .trusting(AUTHORITY.anchors());
        try (TlsBed bed = new TlsBed(brief, good("db"))) {
            InetSocketAddress listener = bed.listen(REQUIRED);
            Endpoint client = new Endpoint(bed.clientDevice, 64);
            bed.connect(client, new Endpoint(bed.serverDevice, 64), listener, TlsBed.asking(REQUIRED));
            client.disconnect();

            Awaitility.await().until(() -> Instant.now().isAfter(expiry.plusSeconds(1)));

            assertThat(bed.failure(listener, TlsBed.asking(REQUIRED)))
                    .contains("the peer refuses the certificate of this side, " + AUTHORITY.id("cart"))
                    .contains("Renew it if it expired");
            assertThat(bed.requests).isEmpty();
        }
    }

    @Test
    void aRequiredConnectionNeedsAnIdentityHere() throws Exception {
        try (TlsBed bed = new TlsBed(null, null)) {
            assertThat(bed.failure(new InetSocketAddress("127.0.0.1", 9), TlsBed.asking(REQUIRED)))
                    .contains("this device has no identity; configure its certificate");
            assertThat(bed.serverDevice.listen(
                            new InetSocketAddress("127.0.0.1", 0), TlsBed.attributes(REQUIRED), request -> {}))
                    .failsWithin(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .withThrowableThat()
                    .withMessageContaining("this device has no identity");
        }
    }

    @Test
    void sctpRefusesARequiredListenerWithTheRemedy() {
        try (TlsBed bed = new TlsBed(good("cart"), good("db"))) {
            ListenAttributes overSctp = new ListenAttributes(
                            Llp.SCTP, MpaPolicy.defaults(), 16, 16, Duration.ofSeconds(10))
                    .withSecurity(REQUIRED);
            assertThat(bed.serverDevice.listen(new InetSocketAddress("127.0.0.1", 0), overSctp, request -> {}))
                    .failsWithin(TlsBed.PATIENCE_SECONDS, TimeUnit.SECONDS)
                    .withThrowableThat()
                    .withMessageContaining("connections over SCTP have no TLS; use TCP, or `plain` with IPsec");
        }
    }
}
