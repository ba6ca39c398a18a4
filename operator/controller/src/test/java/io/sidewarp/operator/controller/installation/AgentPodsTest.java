// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests with the DaemonSet controller that the pods of node agents can be refused. An API server without Pod Security
 * refuses them because of their memory.
 */
@RealApiServer(controllerManager = true)
class AgentPodsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String NODE = "agent-pods-test";

    private final KubernetesClient client;

    AgentPodsTest(KubernetesClient client) {
        this.client = client;
    }

    @AfterEach
    void delete() {
        client.nodes().withName(NODE).delete();
    }

    @Test
    void refusalTellsWhatTheApiServerSaid(TestNamespaces namespaces) {
        String namespace = namespaces.create(Map.of("pod-security.kubernetes.io/enforce", "baseline"));
        client.resource(Yaml.parse("{apiVersion: v1, kind: Node, metadata: {name: " + NODE + "}}", Node.class))
                .create();
        client.resource(Yaml.parse(
                        "{apiVersion: v1, kind: LimitRange, metadata: {name: small, namespace: " + namespace
                                + "}, spec: {limits: [{type: Container, max: {memory: 1Mi}}]}}",
                        LimitRange.class))
                .create();
        AgentPods pods = new AgentPods(client, TestSettings.of(Map.of("sidewarp.operator.namespace", namespace)));
        assertThat(pods.refusal()).isEmpty();

        client.resource(Yaml.parse("""
                        apiVersion: apps/v1
                        kind: DaemonSet
                        metadata:
                          name: agent
                          namespace: %s
                          labels: {app.kubernetes.io/managed-by: sidewarp-controller}
                        spec:
                          selector: {matchLabels: {a: b}}
                          template:
                            metadata: {labels: {a: b}}
                            spec:
                              hostNetwork: true
                              tolerations: [{operator: Exists}]
                              containers: [{name: agent, image: example/agent, resources: {limits: {memory: 64Mi}}}]
                        """.formatted(namespace), DaemonSet.class)).create();

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(pods.refusal())
                        .hasValueSatisfying(message -> assertThat(message)
                                .contains("DaemonSet agent cannot create node agents.", "is forbidden")
                                .containsAnyOf(
                                        "maximum memory usage per Container is 1Mi",
                                        "pod-security.kubernetes.io/enforce=privileged")));
    }
}
