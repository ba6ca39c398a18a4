// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.io.IOException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the webhook's certificate in the Secret of a real API server. */
@RealApiServer
class CertificateStoreTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration VALIDITY = Duration.ofDays(90);
    private static final String SECRET = "sidewarp-webhook-certificate";

    @Test
    void aCertificateWithoutANameOfTheSettingsIsReplacedAndItsAuthorityRemainsTrusted(
            KubernetesClient client, TestNamespaces namespaces) {
        String namespace = namespaces.create();
        String service = "sidewarp-webhook." + namespace + ".svc";
        WebhookCertificate former =
                CertificateMaker.make(List.of(service, service + ".cluster.local"), Instant.now(), VALIDITY, "");
        client.resource(former.toSecret(namespace, SECRET)).create();

        try (CertificateStore store = new CertificateStore(
                client,
                TestSettings.of(Map.of(
                        "sidewarp.operator.namespace",
                        namespace,
                        "sidewarp.operator.webhook.certificate-names",
                        "10.0.0.1")))) {
            store.serve(_ -> {});

            await().atMost(LIMIT).untilAsserted(() -> {
                WebhookCertificate present = inSecret(client, namespace);
                assertThat(present.chain().getFirst().getSubjectAlternativeNames())
                        .anySatisfy(name -> assertThat(name.get(1)).isEqualTo(service))
                        .anySatisfy(name -> assertThat(name.get(1)).isEqualTo("10.0.0.1"));
                assertThat(former.isTrustedBy(present.authorities())).isTrue();
            });
        }
    }

    @ParameterizedTest
    @CsvSource({
        "tls.key, rubbish",
        "tls.crt, rubbish",
        "ca.crt, rubbish",
        "ca.crt, ''",
    })
    void whatSomebodyElseMadeUselessIsReplacedAndNeverServed(
            String part, String content, KubernetesClient client, TestNamespaces namespaces) {
        String namespace = namespaces.create();
        List<WebhookCertificate> served = new CopyOnWriteArrayList<>();

        try (CertificateStore store =
                new CertificateStore(client, TestSettings.of(Map.of("sidewarp.operator.namespace", namespace)))) {
            store.serve(served::add);
            await().atMost(LIMIT).until(() -> !served.isEmpty());
            WebhookCertificate first = served.getFirst();

            client.secrets()
                    .inNamespace(namespace)
                    .withName(SECRET)
                    .edit(secret -> new SecretBuilder(secret)
                            .addToStringData(part, content)
                            .build());

            await().atMost(LIMIT).untilAsserted(() -> {
                WebhookCertificate present = inSecret(client, namespace);
                assertThat(present).isNotEqualTo(first);
                assertThat(present.isUsable()).isTrue();
                assertThat(store.authorities().orElseThrow())
                        .contains(present.authorities())
                        .contains(first.authorities().strip());
            });
            assertThat(served).containsExactly(first);
        }
    }

    @Test
    void aCertificateOfAnotherKeyIsReplacedAtTheStart(KubernetesClient client, TestNamespaces namespaces) {
        String namespace = namespaces.create();
        String service = "sidewarp-webhook." + namespace + ".svc";
        List<String> names = List.of(service, service + ".cluster.local");
        WebhookCertificate one = CertificateMaker.make(names, Instant.now(), VALIDITY, "");
        WebhookCertificate other = CertificateMaker.make(names, Instant.now(), VALIDITY, "");
        WebhookCertificate mixed = new WebhookCertificate(one.certificate(), other.privateKey(), one.authorities());
        client.resource(mixed.toSecret(namespace, SECRET)).create();
        List<WebhookCertificate> served = new CopyOnWriteArrayList<>();

        try (CertificateStore store =
                new CertificateStore(client, TestSettings.of(Map.of("sidewarp.operator.namespace", namespace)))) {
            store.serve(served::add);

            await().atMost(LIMIT).until(() -> !served.isEmpty());
            assertThat(served.getFirst().isUsable()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "https://10.0.0.1:9443/mutate-pods, 10.0.0.1",
        "https://[fd00::1]:9443/mutate-pods, fd00:0:0:0:0:0:0:1",
        "https://webhook.example.com/mutate-pods, webhook.example.com",
    })
    void theCertificateIsAlsoForTheHostThatTheApiServerCalls(
            String url, String name, KubernetesClient client, TestNamespaces namespaces) {
        String namespace = namespaces.create();

        try (CertificateStore store = new CertificateStore(
                client,
                TestSettings.of(Map.of(
                        "sidewarp.operator.namespace",
                        namespace,
                        "sidewarp.operator.webhook.url",
                        url,
                        "sidewarp.operator.webhook.certificate-names",
                        "by-hand.example.com")))) {
            store.serve(_ -> {});

            await().atMost(LIMIT)
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(names(inSecret(client, namespace)))
                            .containsExactly(
                                    "sidewarp-webhook." + namespace + ".svc",
                                    "sidewarp-webhook." + namespace + ".svc.cluster.local",
                                    name,
                                    "by-hand.example.com"));
        }
    }

    private static List<String> names(WebhookCertificate certificate) throws IOException, CertificateException {
        return certificate.chain().getFirst().getSubjectAlternativeNames().stream()
                .map(name -> String.valueOf(name.get(1)))
                .toList();
    }

    private static WebhookCertificate inSecret(KubernetesClient client, String namespace) {
        return WebhookCertificate.of(
                        client.secrets().inNamespace(namespace).withName(SECRET).get())
                .orElseThrow();
    }
}
