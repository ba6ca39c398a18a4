// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests the CA of identities in the Secret of a real API server. */
@RealApiServer
class IdentityCaTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Instant START = Instant.parse("2026-11-30T12:00:00Z");
    private static final Duration YEAR = Duration.ofDays(365);

    private Instant now = START;

    @Test
    void replicasShareOneCaAndItSurvivesTheirRestart(KubernetesClient client, TestNamespaces namespaces) {
        OperatorConfig config = config(namespaces.create());
        String bundle;
        try (IdentityCa one = new IdentityCa(client, config);
                IdentityCa other = new IdentityCa(client, config)) {
            assertThat(one.bundle()).isEmpty();
            one.start();
            other.start();
            await().atMost(LIMIT)
                    .until(() -> one.bundle().isPresent() && one.bundle().equals(other.bundle()));
            bundle = one.bundle().orElseThrow();
        }
        try (IdentityCa restarted = new IdentityCa(client, config)) {
            restarted.start();
            await().atMost(LIMIT).until(() -> restarted.bundle().isPresent());
            assertThat(restarted.bundle()).contains(bundle);
        }
    }

    @Test
    void oneReplicaRotatesAndTheOthersFollow(KubernetesClient client, TestNamespaces namespaces) {
        OperatorConfig config = config(namespaces.create());
        try (IdentityCa writer = new IdentityCa(client, config, () -> now);
                IdentityCa follower = new IdentityCa(client, config, () -> START)) {
            writer.check();
            follower.start();
            await().atMost(LIMIT).until(() -> follower.bundle().isPresent());
            Authority first = writer.authorities().orElseThrow().list().getFirst();

            now = START.plus(YEAR);
            writer.check();

            assertThat(writer.authorities().orElseThrow().list()).hasSize(2).startsWith(first);
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(follower.authorities()).isEqualTo(writer.authorities()));
            now = START.plus(YEAR.multipliedBy(2));
            writer.check();
            assertThat(writer.authorities().orElseThrow().list()).hasSize(2).doesNotContain(first);
        }
    }

    @Test
    void deletedSecretIsReplacedByANewCaAndTheFormerOneIsNotTrustedAnyMore(
            KubernetesClient client, TestNamespaces namespaces) {
        OperatorConfig config = config(namespaces.create());
        try (IdentityCa ca = new IdentityCa(client, config)) {
            ca.start();
            await().atMost(LIMIT).until(() -> ca.bundle().isPresent());
            Authorities former = ca.authorities().orElseThrow();

            client.secrets()
                    .inNamespace(config.namespace())
                    .withName("sidewarp-identity-ca")
                    .delete();

            await().atMost(LIMIT)
                    .untilAsserted(
                            () -> assertThat(ca.authorities().orElseThrow().list())
                                    .hasSize(1)
                                    .doesNotContainAnyElementsOf(former.list()));
        }
    }

    @Test
    void unusableSecretIsLeftAloneAndTheReadCaStaysInUse(KubernetesClient client, TestNamespaces namespaces) {
        OperatorConfig config = config(namespaces.create());
        try (IdentityCa ca = new IdentityCa(client, config)) {
            ca.check();
            Authorities read = ca.authorities().orElseThrow();
            client.secrets()
                    .inNamespace(config.namespace())
                    .withName("sidewarp-identity-ca")
                    .edit(secret -> new SecretBuilder(secret)
                            .addToStringData("ca.key", "rubbish")
                            .build());

            assertThatThrownBy(ca::check).hasMessageContaining("ca.key has 0 keys");
            assertThat(ca.authorities()).contains(read);
        }
    }

    @Test
    void nothingIsCreatedWithoutIdentities(KubernetesClient client, TestNamespaces namespaces) {
        String namespace = namespaces.create();
        try (IdentityCa ca = new IdentityCa(
                client,
                TestSettings.of(Map.of(
                        "sidewarp.operator.namespace", namespace, "sidewarp.operator.identity.enabled", "false")))) {
            ca.start();
            assertThat(ca.bundle()).isEmpty();
        }
        assertThat(client.secrets()
                        .inNamespace(namespace)
                        .withName("sidewarp-identity-ca")
                        .get())
                .isNull();
    }

    @Test
    void issuerIsTheServiceOfTheNamespace(KubernetesClient client) {
        try (IdentityCa ca = new IdentityCa(client, config("sidewarp-system"))) {
            assertThat(ca.issuer()).isEqualTo("https://sidewarp-identity.sidewarp-system.svc:443");
        }
    }

    private static OperatorConfig config(String namespace) {
        return TestSettings.of(Map.of("sidewarp.operator.namespace", namespace));
    }
}
