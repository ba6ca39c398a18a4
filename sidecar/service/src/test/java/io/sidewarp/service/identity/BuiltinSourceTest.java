// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.service.testing.TestAuthority;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuiltinSourceTest {

    private static final Duration DELAY = Duration.ofMillis(20);
    /** Renewal is due after a little more than a second. */
    private static final Duration SHORT = Duration.ofSeconds(2);

    private final TestAuthority authority = new TestAuthority("example.org");
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final RecordingReceiver receiver = new RecordingReceiver();

    @TempDir
    Path directory;

    @BeforeEach
    void writeToken() throws IOException {
        Files.writeString(directory.resolve("token"), "first.token.x\n");
    }

    @AfterEach
    void close() {
        thread.shutdownNow();
    }

    @Test
    void certificateOfNewKeyIsRequestedWithTheToken() {
        try (TestIssuer issuer = new TestIssuer(0, authority, "localhost")) {
            start(issuer.url());

            awaitDelivered(1);
            assertThat(receiver.delivered.getFirst().id()).hasToString(TestIssuer.ID);
            assertThat(issuer.tokens).containsExactly("Bearer first.token.x");
            assertThat(receiver.problems).isEmpty();
        }
    }

    @Test
    void deniedPeersAreReportedWithTheToken() {
        try (TestIssuer issuer = new TestIssuer(0, authority, "localhost")) {
            BuiltinSource source = start(issuer.url());
            awaitDelivered(1);

            source.onDenied("the peer at 10.0.0.1 is spiffe://example.org/ns/shop/sa/intruder");

            Awaitility.await()
                    .untilAsserted(() -> assertThat(issuer.denials)
                            .containsExactly("{\"count\":1,\"last\":\"the peer at 10.0.0.1 is"
                                    + " spiffe://example.org/ns/shop/sa/intruder\"}"));
            assertThat(issuer.tokens.getLast()).isEqualTo("Bearer first.token.x");
        }
    }

    @Test
    void renewalHasNewKeyAndTheTokenOfTheKubelet() throws IOException {
        try (TestIssuer issuer = new TestIssuer(0, authority, "localhost")) {
            issuer.validity = SHORT;
            start(issuer.url());
            awaitDelivered(1);

            Files.writeString(directory.resolve("token"), "second.token.x");
            awaitDelivered(2);

            assertThat(issuer.tokens.getLast()).isEqualTo("Bearer second.token.x");
            assertThat(issuer.keys).doesNotHaveDuplicates();
        }
    }

    @Test
    void casOfTheLastAnswerAreTrustedForPeersAndForTheIssuer() {
        TestAuthority next = new TestAuthority("example.org");
        int port;
        try (TestIssuer issuer = new TestIssuer(0, authority, "localhost")) {
            port = issuer.port();
            issuer.validity = SHORT;
            issuer.bundle = List.of(authority.certificate(), next.certificate());
            start(issuer.url());
            awaitDelivered(1);
        }
        try (TestIssuer rotated = new TestIssuer(port, next, "localhost")) {
            rotated.bundle = List.of(authority.certificate(), next.certificate());
            awaitDelivered(2);

            for (TestAuthority trusted : List.of(authority, next)) {
                X509Certificate[] peer = {trusted.leaf("peer").certificate()};
                assertThatCode(() -> receiver.delivered.getLast().trust().checkClientTrusted(peer, "UNKNOWN"))
                        .doesNotThrowAnyException();
            }
        }
    }

    @Test
    void sidecarsTrustEachOtherWhileTheNextCaBeginsToSign() throws GeneralSecurityException {
        TestAuthority next = new TestAuthority("example.org");
        try (TestIssuer issuer = new TestIssuer(0, authority, "localhost")) {
            issuer.bundle = List.of(authority.certificate(), next.certificate());
            start(issuer.url());
            awaitDelivered(1);
            issuer.signer = next;
            start(issuer.url());
            awaitDelivered(2);

            for (TlsCredentials credentials : receiver.delivered) {
                for (X509Certificate peer : issuer.issued) {
                    X509Certificate[] chain = {peer};
                    assertThatCode(() -> {
                                credentials.trust().checkClientTrusted(chain, "UNKNOWN");
                                credentials.trust().checkServerTrusted(chain, "UNKNOWN");
                            })
                            .doesNotThrowAnyException();
                }
            }
            issuer.issued.getFirst().verify(authority.certificate().getPublicKey());
            issuer.issued.getLast().verify(next.certificate().getPublicKey());
        }
    }

    @Test
    void issuerThatStartsLaterIsFound() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        start(URI.create("https://localhost:" + port));
        awaitProblem("the controller at https://localhost:" + port + " does not answer (", "NetworkPolicies");

        try (TestIssuer issuer = new TestIssuer(port, authority, "localhost")) {
            awaitDelivered(1);
        }
    }

    @Test
    void refusedTokenIsNamedWithTheRemedy() {
        try (TestIssuer issuer = new TestIssuer(0, authority, "localhost")) {
            issuer.status = 401;
            start(issuer.url());

            awaitProblem(
                    "the controller at " + issuer.url() + " refused the token in " + directory.resolve("token")
                            + " (refused as tested); mount a token of the audience sidewarp",
                    "");
            issuer.status = 200;
            awaitDelivered(1);
        }
    }

    @Test
    void controllerThatCannotSignNowIsAskedAgain() {
        try (TestIssuer issuer = new TestIssuer(0, authority, "localhost")) {
            issuer.status = 503;
            start(issuer.url());

            awaitProblem("the controller at " + issuer.url() + " cannot sign now (refused as tested)", "asked again");
            issuer.status = 200;
            awaitDelivered(1);
        }
    }

    @Test
    void issuerOfAnotherCaGetsNoToken() {
        try (TestIssuer issuer = new TestIssuer(0, new TestAuthority("example.org"), "localhost")) {
            start(issuer.url());

            awaitProblem(
                    "the certificate of the controller at " + issuer.url() + " is not of a CA that this pod knows",
                    "restart the pod to get the present CAs");
            assertThat(issuer.tokens).isEmpty();
        }
    }

    @Test
    void issuerOfAnotherNameGetsNoToken() {
        try (TestIssuer issuer = new TestIssuer(0, authority, "elsewhere")) {
            start(issuer.url());

            awaitProblem("TLS with the controller at " + issuer.url() + " fails", "sidewarp.identity.issuer");
            assertThat(issuer.tokens).isEmpty();
        }
    }

    @Test
    void missingTokenIsNamed() throws IOException {
        Files.delete(directory.resolve("token"));
        try (TestIssuer issuer = new TestIssuer(0, authority, "localhost")) {
            start(issuer.url());
            awaitProblem(directory.resolve("token") + " cannot be read", "sidewarp.identity.directory");

            Files.writeString(directory.resolve("token"), "two lines\nof text");
            awaitProblem(directory.resolve("token") + " has no token", "");
            assertThat(issuer.tokens).isEmpty();
        }
    }

    @Test
    void uselessAnswerKeepsTheFormerCertificate() {
        try (TestIssuer issuer = new TestIssuer(0, authority, "localhost")) {
            issuer.validity = SHORT;
            start(issuer.url());
            awaitDelivered(1);

            issuer.validity = Duration.ofSeconds(-30);
            awaitProblem(
                    "the controller at " + issuer.url() + " delivers a certificate that cannot be used: ",
                    TestIssuer.ID + ", expired at ");
            assertThat(receiver.delivered).hasSize(1);
        }
    }

    @Test
    void renewalsOfSidecarsThatStartTogetherAreSpread() {
        Duration hour = Duration.ofHours(1);
        for (int i = 0; i < 1000; i++) {
            assertThat(BuiltinSource.untilRenewal(hour)).isBetween(Duration.ofMinutes(36), Duration.ofMinutes(40));
        }
        assertThat(BuiltinSource.untilRenewal(hour)).isNotEqualTo(BuiltinSource.untilRenewal(hour));
    }

    private BuiltinSource start(URI url) {
        BuiltinSource source = new BuiltinSource(
                url, directory, List.of(authority.certificate()), Clock.systemUTC(), DELAY, DELAY.multipliedBy(4));
        source.start(thread, receiver);
        return source;
    }

    private void awaitDelivered(int number) {
        Awaitility.await().untilAsserted(() -> assertThat(receiver.delivered).hasSizeGreaterThanOrEqualTo(number));
    }

    private void awaitProblem(String begin, String rest) {
        Awaitility.await()
                .untilAsserted(() -> assertThat(receiver.problems)
                        .last()
                        .asString()
                        .startsWith(begin)
                        .contains(rest));
    }
}
