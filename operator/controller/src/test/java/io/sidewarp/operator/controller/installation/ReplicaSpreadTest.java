// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests when a replica moves. The pods are real objects of an API server; nodes are objects of the test. */
@RealApiServer
class ReplicaSpreadTest {
    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");
    private static final String CONTROL_PLANE =
            "taints: [{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}]";

    private final KubernetesClient client;
    private final String namespace;
    private final List<Node> nodes = new ArrayList<>();
    private final ReplicaSpread spread;

    ReplicaSpreadTest(KubernetesClient client, TestNamespaces namespaces) {
        this.client = client;
        namespace = namespaces.create();
        spread = new ReplicaSpread(
                TestSettings.of(Map.of("sidewarp.operator.namespace", namespace)),
                nodes::stream,
                new EventRecorder(client, "test"),
                "leader");
    }

    @AfterEach
    void delete() {
        client.pods().inNamespace(namespace).withGracePeriod(0).delete();
    }

    @Test
    void replicaStaysOnTheOnlyNode() {
        addNode("a", "True", "");
        addReplica("leader", "a", "True");
        addReplica("other", "a", "True");

        assertThat(spread.check(client, NOW)).isFalse();
        assertThat(evicted()).isEmpty();
    }

    @Test
    void replicaStaysOnTheOnlyWorkerBesideATaintedControlPlane() {
        addNode("a", "True", "");
        addNode("control-plane", "True", CONTROL_PLANE);
        addReplica("leader", "a", "True");
        addReplica("other", "a", "True");

        assertThat(spread.check(client, NOW)).isFalse();
        assertThat(evicted()).isEmpty();
    }

    @Test
    void otherReplicaMovesWhenTheDrainedNodeIsUncordoned() {
        addNode("a", "True", "");
        addNode(
                "b",
                "True",
                "unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]");
        addReplica("leader", "a", "True");
        addReplica("other", "a", "True");
        assertThat(spread.check(client, NOW)).isFalse();

        nodes.removeLast();
        addNode("b", "True", "");

        assertThat(spread.check(client, NOW)).isTrue();
        assertThat(evicted()).containsExactly("other");
        assertThat(client.v1().events().inNamespace(namespace).list().getItems())
                .extracting(Event::getReason)
                .containsExactly("ReplicaMoved");
    }

    @ParameterizedTest
    @ValueSource(strings = {"False", "Unknown"})
    void replicaDoesNotMoveToANodeThatIsNotReady(String ready) {
        addNode("a", "True", "");
        addNode("b", ready, "");
        addReplica("leader", "a", "True");
        addReplica("other", "a", "True");

        assertThat(spread.check(client, NOW)).isFalse();
    }

    @Test
    void replicaDoesNotMoveWhileAnotherOneStarts() {
        addNode("a", "True", "");
        addNode("b", "True", "");
        addReplica("leader", "a", "True");
        addReplica("other", "a", "True");
        addReplica("new", "a", "False");

        assertThat(spread.check(client, NOW)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Failed", "Succeeded"})
    void podThatHasEndedIsNoReplica(String phase) {
        addNode("a", "True", "");
        addNode("b", "True", "");
        addReplica("leader", "a", "True");
        addReplica("other", "a", "True");
        addReplica("former", "b", "False");
        client.pods().inNamespace(namespace).withName("former").editStatus(pod -> {
            pod.getStatus().setPhase(phase);
            return pod;
        });

        assertThat(spread.check(client, NOW)).isTrue();
        assertThat(evicted()).containsExactly("other");
    }

    @Test
    void replicasOnDifferentNodesStay() {
        addNode("a", "True", "");
        addNode("b", "True", "");
        addNode("c", "True", "");
        addReplica("leader", "a", "True");
        addReplica("other", "b", "True");

        assertThat(spread.check(client, NOW)).isFalse();
    }

    @Test
    void nextMoveWaitsSomeMinutes() {
        addNode("a", "True", "");
        addNode("b", "True", "");
        addReplica("leader", "a", "True");
        addReplica("other", "a", "True");
        assertThat(spread.check(client, NOW)).isTrue();
        client.pods()
                .inNamespace(namespace)
                .withName("other")
                .withGracePeriod(0)
                .delete();
        // The scheduler places the new replica on the same node.
        addReplica("another", "a", "True");

        assertThat(spread.check(client, NOW.plus(Duration.ofMinutes(4)))).isFalse();
        assertThat(spread.check(client, NOW.plus(Duration.ofMinutes(6)))).isTrue();
    }

    @Test
    void budgetKeepsTheReplica() {
        addNode("a", "True", "");
        addNode("b", "True", "");
        addReplica("leader", "a", "True");
        addReplica("other", "a", "True");
        client.resource(Yaml.parse(
                        """
                        apiVersion: policy/%s
                        kind: PodDisruptionBudget
                        metadata: {name: none, namespace: %s}
                        spec: {maxUnavailable: 0, selector: {matchLabels: {app.kubernetes.io/component: controller}}}
                        """.formatted(client.supports(PodDisruptionBudget.class) ? "v1" : "v1beta1", namespace),
                        GenericKubernetesResource.class))
                .create();

        assertThat(spread.check(client, NOW)).isFalse();
        assertThat(evicted()).isEmpty();
    }

    private List<String> evicted() {
        return client.pods().inNamespace(namespace).list().getItems().stream()
                .filter(Pod::isMarkedForDeletion)
                .map(pod -> pod.getMetadata().getName())
                .toList();
    }

    private void addNode(String name, String ready, String spec) {
        nodes.add(Yaml.parse("""
                apiVersion: v1
                kind: Node
                metadata: {name: %s}
                spec: {%s}
                status: {conditions: [{type: Ready, status: '%s'}]}
                """.formatted(name, spec, ready), Node.class));
    }

    private void addReplica(String name, String node, String ready) {
        client.resource(Yaml.parse("""
                apiVersion: v1
                kind: Pod
                metadata: {name: %s, namespace: %s, labels: {app.kubernetes.io/component: controller}}
                spec: {nodeName: %s, containers: [{name: controller, image: example/controller}]}
                """.formatted(name, namespace, node), Pod.class))
                .create();
        client.pods().inNamespace(namespace).withName(name).editStatus(pod -> {
            pod.getStatus().setPhase("Running");
            pod.getStatus()
                    .setConditions(
                            Yaml.parse("{status: {conditions: [{type: Ready, status: '" + ready + "'}]}}", Pod.class)
                                    .getStatus()
                                    .getConditions());
            return pod;
        });
    }
}
