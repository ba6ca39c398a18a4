// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Ends the pod of the packaged controller. */
@RealApiServer
class WebhookShutdownIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final KubeApiServer server;
    private final KubernetesClient client;

    WebhookShutdownIT(KubeApiServer server) {
        this.server = server;
        client = server.client();
    }

    @AfterEach
    void unregister() {
        ControllerProcess.unregisterWebhook(client);
    }

    @Test
    void podsAreAdmittedUntilApiServersCanKnowThatItEnds(TestNamespaces namespaces) throws Exception {
        OwnDefinitions.install(client);
        String applications = namespaces.create(Map.of("sidewarp.io/inject", "enabled"));
        try (ControllerProcess controller = ControllerProcess.start(
                server, namespaces.create(), Map.of("SIDEWARP_OPERATOR_WEBHOOK_SHUTDOWN_DELAY", "10s"))) {
            controller.registerWebhook(client, applications);

            controller.terminate();
            await().atMost(LIMIT).until(() -> controller.log().contains("event=webhook-ending"));
            // The first on the connection that the API server has, the other on a new one.
            for (int pod = 0; pod < 2; pod++) {
                assertThat(client.pods()
                                .inNamespace(applications)
                                .resource(ControllerProcess.pod("admitted-" + pod))
                                .dryRun()
                                .create()
                                .getSpec()
                                .getVolumes())
                        .hasSizeGreaterThan(1);
            }

            await().atMost(LIMIT).until(() -> !controller.isAlive());
            assertThat(controller.log()).doesNotContain("level=ERROR", "level=FATAL");
        }
    }
}
