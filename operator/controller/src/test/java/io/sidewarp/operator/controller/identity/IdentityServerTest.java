// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.management.OperatingSystemMXBean;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sidewarp.common.x509.CertificateBuilder;
import io.sidewarp.common.x509.Pem;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.pki.Pki;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.lang.management.ManagementFactory;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the identity service with tokens of a real API server. */
@RealApiServer
class IdentityServerTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration YEAR = Duration.ofDays(365);

    private final KubernetesClient client;
    private final String namespace;
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final EventRecorder events;
    private final KeyPair keys;
    private IdentityCa ca;
    private IdentityServer server;
    private IdentityClient sidecar;
    private volatile Instant now = Instant.now();

    IdentityServerTest(KubernetesClient client, TestNamespaces namespaces) throws Exception {
        this.client = client;
        this.namespace = namespaces.create();
        this.events = new EventRecorder(client, "test");
        this.keys = CertificateBuilder.newKeys();
        account("cart");
    }

    @BeforeEach
    void start() throws Exception {
        ca = new IdentityCa(client, config(), () -> now);
        server = new IdentityServer(config(), ca, client, events, meters, () -> now);
        server.start();
        await().atMost(LIMIT).until(() -> server.port() != 0);
        sidecar = new IdentityClient(server.port(), ca.bundle().orElseThrow());
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void podGetsTheIdentityOfItsServiceAccountAndNothingThatItsRequestAsksFor() throws Exception {
        Pod pod = pod("cart");
        HttpResponse<String> answer = sidecar.post(token(pod, "sidewarp"), IdentityClient.request(keys));

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.headers().firstValue("content-type")).contains("application/json");
        X509Certificate certificate = IdentityClient.certificate(answer);
        String id = "spiffe://cluster.local/ns/" + namespace + "/sa/cart";
        assertThat(certificate.getSubjectAlternativeNames()).singleElement().isEqualTo(List.of(6, id));
        assertThat(certificate.getSubjectX500Principal().getName()).isEqualTo("O=Sidewarp");
        assertThat(certificate.getPublicKey()).isEqualTo(keys.getPublic());
        assertThat(certificate.getBasicConstraints()).isEqualTo(-1);
        assertThat(certificate.getKeyUsage()).startsWith(true, false, false, false, false, false, false);
        assertThat(certificate.getExtendedKeyUsage())
                .containsExactlyInAnyOrder("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2");
        assertThat(certificate.getNotAfter().toInstant()).isBetween(now.plusSeconds(3599), now.plusSeconds(3600));
        assertThat(certificate.getSerialNumber().bitLength()).isGreaterThan(64);
        certificate.verify(
                ca.authorities().orElseThrow().signer(now).certificate().getPublicKey());
        assertThat(IdentityClient.json(answer).get("trustBundle").asText())
                .isEqualTo(ca.bundle().orElseThrow());
        assertThat(IdentityClient.json(answer).get("spiffeId").asText()).isEqualTo(id);
        assertThat(count("sidewarp.operator.identity.issued")).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"https://kubernetes.default.svc", "vault", "''"})
    void tokenOfAnotherAudienceIsRefused(String audience) throws Exception {
        String token = audience.isEmpty() ? "not.a.token" : token(pod("cart"), audience);
        HttpResponse<String> answer = sidecar.post(token, IdentityClient.request(keys));

        assertThat(answer.statusCode()).isEqualTo(401);
        assertThat(answer.body()).startsWith("the token was refused: ");
        assertThat(meters.counter("sidewarp.operator.identity.refused", "reason", "token")
                        .count())
                .isEqualTo(1);
    }

    @Test
    void deniedPeersAreAnEventOfThePod() throws Exception {
        Pod pod = pod("cart");
        String token = token(pod, "sidewarp");
        String report = "{\"count\": 12, \"last\": \"the peer is spiffe://a/b\\nand more\"}";

        assertThat(denials(token, report).statusCode()).isEqualTo(200);
        HttpResponse<String> again = denials(token, report);

        assertThat(again.statusCode()).as("a second report at once").isEqualTo(429);
        assertThat(client.v1().events().inNamespace(namespace).list().getItems())
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.getInvolvedObject().getKind()).isEqualTo("Pod");
                    assertThat(event.getInvolvedObject().getUid())
                            .isEqualTo(pod.getMetadata().getUid());
                    assertThat(event.getReason()).isEqualTo("PeersDenied");
                    assertThat(event.getMessage())
                            .startsWith("the sidecar denied 12 connections; the last one: the peer is spiffe://a/b")
                            .doesNotContain("\n");
                });
        now = now.plusSeconds(31);
        assertThat(denials(token, report).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "null", "[]", "x", "{\"count\": 0, \"last\": \"a\"}", "{\"count\": 1}"})
    void reportOfNoDenialIsRefused(String report) throws Exception {
        HttpResponse<String> answer = denials(token(pod("cart"), "sidewarp"), report);

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("a report is {\"count\": NUMBER, \"last\": MESSAGE}");
    }

    private HttpResponse<String> denials(String token, String report) throws Exception {
        return sidecar.post(IdentityServer.DENIALS, token, report);
    }

    @Test
    void tokenOfADeletedPodOrServiceAccountIsRefused() throws Exception {
        Pod pod = pod("cart");
        String token = token(pod, "sidewarp");
        client.resource(pod).withGracePeriod(0).delete();
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(sidecar.post(token, IdentityClient.request(keys))
                                .statusCode())
                        .isEqualTo(401));

        account("gone");
        String other = token(pod("gone"), "sidewarp");
        client.serviceAccounts().inNamespace(namespace).withName("gone").delete();
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(sidecar.post(other, IdentityClient.request(keys))
                                .statusCode())
                        .isEqualTo(401));
    }

    @Test
    void requestWithoutATokenOrElsewhereIsRefused() throws Exception {
        assertThat(sidecar.post("", IdentityClient.request(keys)).statusCode()).isEqualTo(401);
        assertThat(sidecar.get("/v1/certificates").statusCode()).isEqualTo(404);
        assertThat(sidecar.get("/mutate-pods").body()).contains("POST a certificate signing request");
        HttpResponse<String> bundle = sidecar.get("/v1/bundle");
        assertThat(bundle.statusCode()).isEqualTo(200);
        assertThat(bundle.body()).isEqualTo(ca.bundle().orElseThrow());
        assertThat(bundle.headers().firstValue("connection")).contains("close");
    }

    @Test
    void damagedRequestIsRefused() throws Exception {
        String token = token(pod("cart"), "sidewarp");
        String request = IdentityClient.request(keys);
        String other = IdentityClient.request(CertificateBuilder.newKeys());
        KeyPair rsa = KeyPairGenerator.getInstance("RSA").generateKeyPair();

        assertThat(sidecar.post(token, "rubbish").body()).contains("no certificate signing request");
        assertThat(sidecar.post(token, Pem.encode("CERTIFICATE REQUEST", new byte[] {0x30, 1, 2}))
                        .body())
                .contains("damaged");
        assertThat(sidecar.post(token, request.replaceFirst("(?s)....\n-----END", "AAAA\n-----END"))
                        .statusCode())
                .isEqualTo(400);
        assertThat(sidecar.post(token, IdentityClient.request(rsa)).body()).contains("allowed: EC of the curve P-256");
        assertThat(sidecar.post(token, IdentityClient.request(new KeyPair(other(other), keys.getPrivate())))
                        .body())
                .contains("the signature of the request does not fit its key");
        assertThat(sidecar.post(token, " ".repeat(9000)).statusCode()).isEqualTo(413);
        assertThat(count("sidewarp.operator.identity.issued")).isZero();
    }

    private static PublicKey other(String request) {
        return SigningRequest.keyOf(request.getBytes(StandardCharsets.US_ASCII));
    }

    /** Somebody could name a service account like the host of the service. */
    @Test
    void certificateOfASidecarIsNoneOfAHost() throws Exception {
        Authority signer = ca.authorities().orElseThrow().signer(now);
        X509Certificate certificate = CertificateIssuer.sidecar(
                signer, keys.getPublic(), "spiffe://cluster.local/ns/shop/sa/localhost", now, LIMIT);

        assertThat(certificate.getSubjectX500Principal().getName()).doesNotContain("CN=");
        assertThat(certificate.getSubjectAlternativeNames())
                .allSatisfy(name -> assertThat(name.get(0)).isEqualTo(6));
    }

    @Test
    void sidecarOfAnotherBundleDoesNotTrustTheService() throws Exception {
        String other = Authorities.create("cluster.local", now, YEAR).bundle();

        assertThatThrownBy(() -> new IdentityClient(server.port(), other).get("/v1/bundle"))
                .isInstanceOf(SSLHandshakeException.class);
    }

    @Test
    void followerSignsWithTheSameCa() throws Exception {
        try (IdentityServer follower = new IdentityServer(
                config(), new IdentityCa(client, config(), () -> now), client, events, meters, () -> now)) {
            follower.start();
            await().atMost(LIMIT).until(() -> follower.port() != 0);
            HttpResponse<String> answer = new IdentityClient(
                            follower.port(), ca.bundle().orElseThrow())
                    .post(token(pod("cart"), "sidewarp"), IdentityClient.request(keys));

            IdentityClient.certificate(answer)
                    .verify(ca.authorities()
                            .orElseThrow()
                            .signer(now)
                            .certificate()
                            .getPublicKey());
        }
    }

    /** The sidecar of a pod that is 200 days old starts again, with the bundle of the time of the pod's creation. */
    @Test
    void serviceIsTrustedByTheBundleOfAnOldPodWhileTheNextCaSigns() throws Exception {
        OperatorConfig config = config("sidewarp.operator.identity.secret", "of-former-years");
        Instant today = now;
        now = today.minus(Duration.ofDays(200)).minus(YEAR);
        try (IdentityCa old = new IdentityCa(client, config, () -> now);
                IdentityServer service = new IdentityServer(config, old, client, events, meters, () -> now)) {
            old.check();
            Authority first = old.authorities().orElseThrow().list().getFirst();
            now = today.minus(Duration.ofDays(200));
            old.check();
            String bundleOfThePod = old.bundle().orElseThrow();
            now = today;
            service.start();
            await().atMost(LIMIT).until(() -> service.port() != 0);

            X509Certificate certificate = IdentityClient.certificate(new IdentityClient(service.port(), bundleOfThePod)
                    .post(token(pod("cart"), "sidewarp"), IdentityClient.request(keys)));
            List<X509Certificate> known = Pki.certificates(bundleOfThePod);
            service.certificate().verify(known.getFirst().getPublicKey());
            certificate.verify(known.getLast().getPublicKey());

            now = today.plus(YEAR.dividedBy(2));
            old.check();
            service.refresh();
            assertThat(old.authorities().orElseThrow().list()).doesNotContain(first);
            service.certificate().verify(known.getLast().getPublicKey());
            assertThat(service.certificate().getNotAfter().toInstant()).isAfter(now);
        }
    }

    @Test
    void apiServerThatIsAwayMakesSidecarsComeBackLater() throws Exception {
        Config broken = new ConfigBuilder(client.getConfiguration())
                .withMasterUrl("https://127.0.0.1:1")
                .build();
        try (KubernetesClient away =
                        new KubernetesClientBuilder().withConfig(broken).build();
                IdentityServer cutOff = new IdentityServer(config(), ca, away, events, meters, () -> now)) {
            cutOff.start();
            await().atMost(LIMIT).until(() -> cutOff.port() != 0);
            HttpResponse<String> answer = new IdentityClient(
                            cutOff.port(), ca.bundle().orElseThrow())
                    .post(token(pod("cart"), "sidewarp"), IdentityClient.request(keys));

            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.body()).startsWith("the API server did not check the token");
            assertThat(answer.headers().firstValueAsLong("retry-after").orElse(0))
                    .isBetween(5L, 19L);
        }
    }

    /** Requests beyond the bounds wait, and none fails. */
    @Test
    void thousandRequestsAtOnceAreServed() throws Exception {
        int all = 1000;
        String token = token(pod("cart"), "sidewarp");
        String request = IdentityClient.request(keys);
        Map<Integer, Long> statuses = new TreeMap<>();
        long begin = System.nanoTime();
        long used = processorNanos();
        try (ExecutorService sidecars = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> answers = new ArrayList<>();
            for (int i = 0; i < all; i++) {
                answers.add(sidecars.submit(() -> sidecar.post(token, request).statusCode()));
            }
            for (Future<Integer> answer : answers) {
                statuses.merge(answer.get(), 1L, Long::sum);
            }
        }
        System.out.printf(
                "certificates=%s seconds=%.1f processor-seconds=%.1f%n",
                statuses, (System.nanoTime() - begin) / 1e9, (processorNanos() - used) / 1e9);
        assertThat(statuses).isEqualTo(Map.of(200, (long) all));
    }

    /** Returns the processor time of this process: of the service and of the sidecars, not of the API server. */
    private static long processorNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private double count(String counter) {
        return meters.counter(counter).count();
    }

    private void account(String name) {
        client.resource(new ServiceAccountBuilder()
                        .withNewMetadata()
                        .withNamespace(namespace)
                        .withName(name)
                        .endMetadata()
                        .build())
                .create();
    }

    private Pod pod(String account) {
        return client.resource(new PodBuilder()
                        .withNewMetadata()
                        .withNamespace(namespace)
                        .withGenerateName(account + "-")
                        .endMetadata()
                        .withNewSpec()
                        .withServiceAccountName(account)
                        .addNewContainer()
                        .withName("c")
                        .withImage("i")
                        .endContainer()
                        .endSpec()
                        .build())
                .create();
    }

    private String token(Pod pod, String audience) {
        return client.serviceAccounts()
                .inNamespace(namespace)
                .withName(pod.getSpec().getServiceAccountName())
                .tokenRequest(new TokenRequestBuilder()
                        .withNewSpec()
                        .withAudiences(audience)
                        .withNewBoundObjectRef()
                        .withApiVersion("v1")
                        .withKind("Pod")
                        .withName(pod.getMetadata().getName())
                        .withUid(pod.getMetadata().getUid())
                        .endBoundObjectRef()
                        .endSpec()
                        .build())
                .getStatus()
                .getToken();
    }

    private OperatorConfig config() {
        return config("sidewarp.operator.identity.secret", "sidewarp-identity-ca");
    }

    private OperatorConfig config(String setting, String value) {
        return TestSettings.of(Map.of(
                setting,
                value,
                "sidewarp.operator.namespace",
                namespace,
                "sidewarp.operator.identity.host",
                "127.0.0.1",
                "sidewarp.operator.identity.connections",
                "1024",
                "sidewarp.operator.identity.port",
                "0",
                "sidewarp.operator.identity.certificate-names",
                "localhost"));
    }
}
