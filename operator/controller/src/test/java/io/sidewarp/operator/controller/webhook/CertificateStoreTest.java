// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The webhook's certificate in the Secret of a real API server. */
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

    private static WebhookCertificate inSecret(KubernetesClient client, String namespace) {
        return WebhookCertificate.of(
                        client.secrets().inNamespace(namespace).withName(SECRET).get())
                .orElseThrow();
    }
}
