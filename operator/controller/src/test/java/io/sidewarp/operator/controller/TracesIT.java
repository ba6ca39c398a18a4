// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.OtlpReceiver;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests the traces that the packaged controller sends to a collector. */
@RealApiServer
class TracesIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @BeforeAll
    static void install(KubernetesClient client) {
        OwnDefinitions.install(client);
    }

    @Test
    void reconciliationsAndAdmissionsAreSpans(KubeApiServer server, KubernetesClient client, TestNamespaces namespaces)
            throws Exception {
        String applications = namespaces.create(Map.of("sidewarp.io/inject", "enabled"));
        try (OtlpReceiver collector = new OtlpReceiver();
                ControllerProcess controller = ControllerProcess.start(
                        server,
                        namespaces.create(),
                        Map.of(
                                "OTEL_SDK_DISABLED", "false",
                                "OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint(),
                                "QUARKUS_OTEL_BSP_SCHEDULE_DELAY", "100ms"))) {
            client.resource(Yaml.parse(
                            "{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: traced, namespace: "
                                    + applications + "}, spec: {settings: {sidewarp.api.socket: /tmp/x}}}",
                            SidecarProfile.class))
                    .create();
            controller.registerWebhook(client, applications);

            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(collector.spans())
                            .anySatisfy(span -> {
                                assertThat(span.name()).isEqualTo("reconcile profile");
                                assertThat(span.attributes())
                                        .containsEntry("k8s.resource.kind", "SidecarProfile")
                                        .containsEntry("k8s.resource.name", "traced")
                                        .containsEntry("k8s.namespace.name", applications)
                                        .containsEntry("k8s.resource.generation", "1")
                                        .containsEntry("sidewarp.outcome", "status");
                            })
                            .anySatisfy(span -> {
                                assertThat(span.name()).isEqualTo("admit pod");
                                assertThat(span.attributes())
                                        .containsEntry("k8s.resource.name", "asked-for")
                                        .containsEntry("sidewarp.decision", "injected")
                                        .containsEntry("sidewarp.dry-run", "true")
                                        .containsEntry("sidewarp.profile", "built-in");
                            }));
        } finally {
            ControllerProcess.unregisterWebhook(client);
        }
    }
}
