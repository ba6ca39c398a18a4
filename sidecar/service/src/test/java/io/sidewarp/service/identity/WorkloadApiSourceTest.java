// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sidewarp.engine.net.tls.SpiffeTrust;
import io.sidewarp.service.identity.workload.X509SVIDResponse;
import io.sidewarp.service.server.Transports;
import io.sidewarp.service.testing.TestAuthority;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.TestWorkloadApi;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WorkloadApiSourceTest {

    private static final Duration DELAY = Duration.ofMillis(20);

    private final TestAuthority authority = new TestAuthority("example.org");
    private final Path directory = TestSidecar.newDirectory();
    private final Path socket = directory.resolve("agent.sock");
    private final String address = "unix://" + socket;
    private final Transports transports = new Transports(1, Duration.ZERO);
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final RecordingReceiver receiver = new RecordingReceiver();
    private final WorkloadApiSource source = new WorkloadApiSource(
            address,
            () -> WorkloadApiChannel.create(address, transports),
            Clock.systemUTC(),
            DELAY,
            DELAY.multipliedBy(4));

    @AfterEach
    void close() {
        source.close();
        thread.shutdownNow();
        transports.close();
        TestSidecar.delete(directory);
    }

    @Test
    void firstIdentityIsTaken() {
        try (TestWorkloadApi agent = new TestWorkloadApi(socket)) {
            X509SVIDResponse other = response("other").build();
            agent.deliver(response("cart").addAllSvids(other.getSvidsList()).build());

            source.start(thread, receiver);

            awaitDelivered(1);
            assertThat(receiver.delivered.getFirst().id()).hasToString(authority.id("cart"));
            assertThat(receiver.problems).isEmpty();
        }
    }

    @Test
    void renewedIdentityReplacesCredentials() {
        try (TestWorkloadApi agent = new TestWorkloadApi(socket)) {
            agent.deliver(response("cart").build());
            source.start(thread, receiver);
            awaitDelivered(1);

            agent.deliver(response("cart").build());

            awaitDelivered(2);
            assertThat(agent.calls()).isOne();
        }
    }

    @Test
    void peersOfFederatedTrustDomainAreTrusted() {
        TestAuthority friend = new TestAuthority("friend.example");
        TestAuthority stranger = new TestAuthority("stranger.example");
        try (TestWorkloadApi agent = new TestWorkloadApi(socket)) {
            agent.deliver(response("cart")
                    .putFederatedBundles("spiffe://friend.example", TestWorkloadApi.der(friend.certificate()))
                    .build());
            source.start(thread, receiver);
            awaitDelivered(1);

            SpiffeTrust trust = receiver.delivered.getFirst().trust();
            for (TestAuthority trusted : new TestAuthority[] {authority, friend}) {
                assertThatCode(() -> trust.checkClientTrusted(chain(trusted), "UNKNOWN"))
                        .doesNotThrowAnyException();
            }
            assertThatThrownBy(() -> trust.checkClientTrusted(chain(stranger), "UNKNOWN"))
                    .hasMessageContaining("trusted here are [example.org, friend.example]");
        }
    }

    private static X509Certificate[] chain(TestAuthority issuer) {
        return new X509Certificate[] {issuer.leaf("peer").certificate()};
    }

    @Test
    void agentThatStartsLaterIsFound() {
        source.start(thread, receiver);
        Awaitility.await().until(() -> receiver.problems.size() >= 2);
        assertThat(receiver.problems)
                .allSatisfy(problem -> assertThat(problem)
                        .startsWith("the Workload API at " + address
                                + " does not answer (UNAVAILABLE: io exception: FileNotFoundException); ")
                        .endsWith("start the SPIFFE agent, mount its socket, or set sidewarp.identity.socket"));
        assertThat(receiver.problems.getFirst()).isEqualTo(receiver.problems.get(1));

        try (TestWorkloadApi agent = new TestWorkloadApi(socket)) {
            agent.deliver(response("cart").build());
            awaitDelivered(1);
        }
    }

    @Test
    void agentThatRestartsIsFoundAgain() {
        X509SVIDResponse identity = response("cart").build();
        try (TestWorkloadApi agent = new TestWorkloadApi(socket)) {
            agent.deliver(identity);
            source.start(thread, receiver);
            awaitDelivered(1);
        }
        Awaitility.await().until(() -> !receiver.problems.isEmpty());

        try (TestWorkloadApi agent = new TestWorkloadApi(socket)) {
            agent.deliver(identity);
            Awaitility.await()
                    .untilAsserted(() -> assertThat(receiver.unchanged).hasValue(1));
            agent.deliver(response("cart").build());
            awaitDelivered(2);
        }
    }

    @Test
    void workloadThatIsNotRegisteredIsToldSo() {
        try (TestWorkloadApi agent = new TestWorkloadApi(socket)) {
            source.start(thread, receiver);
            Awaitility.await().until(() -> !receiver.problems.isEmpty());
            assertThat(receiver.problems.getFirst())
                    .isEqualTo("the Workload API at " + address + " has no identity for this process"
                            + " (PERMISSION_DENIED: no identity issued); register this workload at the SPIFFE server");

            agent.deliver(response("cart").build());
            awaitDelivered(1);
        }
    }

    @Test
    void identityThatCannotBeUsedKeepsTheFormer() {
        try (TestWorkloadApi agent = new TestWorkloadApi(socket)) {
            agent.deliver(response("cart").build());
            source.start(thread, receiver);
            awaitDelivered(1);

            TestAuthority.Leaf wrongKey = new TestAuthority.Leaf(
                    authority.leaf("cart").key(), authority.leaf("cart").certificate());
            agent.deliver(
                    TestWorkloadApi.response(wrongKey, authority.certificate()).build());
            awaitProblem("the private key does not belong to the certificate");

            Instant past = Instant.now().minusSeconds(60);
            agent.deliver(TestWorkloadApi.response(
                            authority.leaf("cart", past.minusSeconds(60), past), authority.certificate())
                    .build());
            awaitProblem(authority.id("cart") + ", expired at ");

            agent.deliver(TestWorkloadApi.response(
                            authority.sign(builder -> builder.dnsName("cart")), authority.certificate())
                    .build());
            awaitProblem("has no SPIFFE ID");

            agent.deliver(X509SVIDResponse.getDefaultInstance());
            awaitProblem("there is no X.509-SVID; register this workload");
            assertThat(receiver.delivered).hasSize(1);
        }
    }

    @Test
    void certificateThatIsNotValidYetIsUsedLater() {
        Instant from = Instant.now().plusSeconds(2);
        try (TestWorkloadApi agent = new TestWorkloadApi(socket)) {
            agent.deliver(TestWorkloadApi.response(
                            authority.leaf("cart", from, from.plusSeconds(60)), authority.certificate())
                    .build());
            source.start(thread, receiver);

            awaitProblem(authority.id("cart") + ", is not valid before ");
            awaitDelivered(1);
            assertThat(agent.calls()).isOne();
        }
    }

    @Test
    void sidecarTakesIdentityFromAgent() {
        try (TestWorkloadApi agent = new TestWorkloadApi(socket)) {
            agent.deliver(response("cart").build());
            try (TestSidecar sidecar =
                    TestSidecar.start("sidewarp.identity.source", "spiffe", "sidewarp.identity.socket", address)) {
                Awaitility.await()
                        .untilAsserted(
                                () -> assertThat(sidecar.get("/q/health/ready")).contains("\"status\":\"UP\""));
            }
        }
    }

    private X509SVIDResponse.Builder response(String serviceAccount) {
        return TestWorkloadApi.response(authority.leaf(serviceAccount), authority.certificate());
    }

    private void awaitDelivered(int number) {
        Awaitility.await().untilAsserted(() -> assertThat(receiver.delivered).hasSize(number));
    }

    private void awaitProblem(String text) {
        Awaitility.await()
                .untilAsserted(() -> assertThat(receiver.problems)
                        .last()
                        .asString()
                        .startsWith("the Workload API at " + address + " delivers an identity that cannot be used: ")
                        .contains(text));
    }
}
