// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two replicas of the packaged controller. */
@RealApiServer
class LeaderElectionIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String LEASE = "sidewarp-controller";

    private final KubeApiServer server;
    private final KubernetesClient client;

    LeaderElectionIT(KubeApiServer server) {
        this.server = server;
        client = server.client();
    }

    @AfterEach
    void delete() {
        client.nodes().delete();
        client.resources(IwarpNode.class).delete();
    }

    @Test
    void oneReconcilesAndTheOtherGoesOnWhenItCrashes(TestNamespaces namespaces) throws Exception {
        OwnDefinitions.install(client);
        String namespace = namespaces.create();
        try (ControllerProcess first = replica(namespace, "first")) {
            addNode("before");
            awaitHolder(namespace, "first");
            // Ready: it answers admission calls, too.
            try (ControllerProcess second = replica(namespace, "second")) {
                addNode("meanwhile");
                assertThat(reconciliations(first)).isPositive();
                assertThat(reconciliations(second)).isZero();

                first.crash();

                addNode("afterwards");
                awaitHolder(namespace, "second");
                assertThat(reconciliations(second)).isPositive();
            }
        }
    }

    /** Simulates an API server that did not answer the renewal: the other replica may have taken over meanwhile. */
    @Test
    void oneThatLeadsNoLongerEnds(TestNamespaces namespaces) throws Exception {
        OwnDefinitions.install(client);
        String namespace = namespaces.create();
        try (ControllerProcess leader = ControllerProcess.start(
                server, namespace, Map.of("HOSTNAME", "leader", "SIDEWARP_OPERATOR_LEADER_ELECTION_DURATION", "3s"))) {
            awaitHolder(namespace, "leader");

            client.leases()
                    .inNamespace(namespace)
                    .withName(LEASE)
                    .patch(PatchContext.of(PatchType.JSON_MERGE), """
                            {"spec": {"holderIdentity": "other", "leaseDurationSeconds": 3600, "renewTime": "%s"}}
                            """.formatted(
                                    Instant.now().truncatedTo(ChronoUnit.MICROS)));

            await().atMost(LIMIT).until(() -> !leader.isAlive());
            assertThat(leader.exitCode()).isEqualTo(1);
            assertThat(leader.log()).contains("event=leads-no-longer").doesNotContain("level=ERROR", "level=FATAL");
        }
    }

    @Test
    void oneThatLosesTheApiServerTellsItWithoutStackTraces(TestNamespaces namespaces) throws Exception {
        OwnDefinitions.install(client);
        String namespace = namespaces.create();
        try (ControllerProcess leader = ControllerProcess.start(
                server, namespace, Map.of("HOSTNAME", "leader", "SIDEWARP_OPERATOR_LEADER_ELECTION_DURATION", "5s"))) {
            awaitHolder(namespace, "leader");

            server.stopApiServer();

            await().atMost(LIMIT).until(() -> !leader.isAlive());
            assertThat(leader.log())
                    .contains("Exception occurred while acquiring lock", "Connection refused")
                    .doesNotContain("\tat ");
        } finally {
            server.startApiServer();
        }
    }

    private ControllerProcess replica(String namespace, String name) throws IOException {
        return ControllerProcess.start(server, namespace, Map.of("HOSTNAME", name));
    }

    /** Returns when whoever leads has given the node its IwarpNode. */
    private void addNode(String name) {
        client.resource(Yaml.parse("{apiVersion: v1, kind: Node, metadata: {name: " + name + "}}", Node.class))
                .create();
        await().atMost(LIMIT)
                .until(() -> client.resources(IwarpNode.class).withName(name).get() != null);
    }

    private void awaitHolder(String namespace, String name) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(client.leases()
                                .inNamespace(namespace)
                                .withName(LEASE)
                                .get()
                                .getSpec()
                                .getHolderIdentity())
                        .startsWith(name));
    }

    private static double reconciliations(ControllerProcess controller) throws InterruptedException {
        return controller.metric("reconciliations_started_total", "");
    }
}
