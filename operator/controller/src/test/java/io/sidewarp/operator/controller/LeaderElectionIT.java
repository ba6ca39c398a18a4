// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
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

    /** An upgrade creates new pods before it ends old ones. */
    @Test
    void leaderThatEndsPassesItsLeaseToTheNewestReadyReplica(TestNamespaces namespaces) throws Exception {
        OwnDefinitions.install(client);
        String namespace = namespaces.create();
        createPod(namespace, "leader", "True");
        createPod(namespace, "old", "True");
        try (ControllerProcess leader = replica(namespace, "leader")) {
            awaitHolder(namespace, "leader");
            // The times of creation have a resolution of a second.
            Instant created = createPod(namespace, "old-too", "True");
            await().atMost(LIMIT).until(() -> Instant.now().isAfter(created.plusSeconds(1)));
            createPod(namespace, "newest", "True");
            createPod(namespace, "newest-not-ready", "False");
            try (ControllerProcess newest = replica(namespace, "newest")) {
                Instant begin = Instant.now();

                leader.terminate();

                awaitHolder(namespace, "newest");
                addNode("after-the-end");
                System.out.printf(
                        "another replica reconciles %d ms after SIGTERM of the leader%n",
                        Duration.between(begin, Instant.now()).toMillis());
                assertThat(reconciliations(newest)).isPositive();
                await().atMost(LIMIT).until(() -> !leader.isAlive());
                assertThat(leader.exitCode()).isZero();
                assertThat(leader.log())
                        .contains("event=lease-released successor=\"newest\"")
                        .doesNotContain("level=ERROR");
            }
        }
    }

    @Test
    void leaderWithoutASuccessorLeavesItsLeaseFree(TestNamespaces namespaces) throws Exception {
        OwnDefinitions.install(client);
        String namespace = namespaces.create();
        try (ControllerProcess leader = replica(namespace, "leader")) {
            awaitHolder(namespace, "leader");

            leader.terminate();

            await().atMost(LIMIT).until(() -> !leader.isAlive());
            assertThat(client.leases()
                            .inNamespace(namespace)
                            .withName(LEASE)
                            .get()
                            .getSpec()
                            .getHolderIdentity())
                    .isNullOrEmpty();
        }
        try (ControllerProcess next = replica(namespace, "next")) {
            addNode("for-the-next");
            assertThat(reconciliations(next)).isPositive();
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

    /** Creates the pod of a replica, and returns when it was created. */
    private Instant createPod(String namespace, String name, String ready) {
        Pod pod = ControllerProcess.pod(name);
        pod.getMetadata().setNamespace(namespace);
        pod.getMetadata().setLabels(Map.of("app.kubernetes.io/component", "controller"));
        Pod created = client.resource(pod).create();
        client.pods().inNamespace(namespace).withName(name).editStatus(present -> {
            present.setStatus(Yaml.parse(
                            "{status: {phase: Running, conditions: [{type: Ready, status: '" + ready + "'}]}}",
                            Pod.class)
                    .getStatus());
            return present;
        });
        return Instant.parse(created.getMetadata().getCreationTimestamp());
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
