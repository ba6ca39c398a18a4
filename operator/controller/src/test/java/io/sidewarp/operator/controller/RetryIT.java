// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the packaged controller while the API server refuses its requests. Its configuration differs from the defaults
 * of its classes.
 */
@RealApiServer
class RetryIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String USER = "retry-test";
    private static final String NODE = "retry-test";

    /** The Java Operator SDK gives up after six unless it is told otherwise. */
    private static final int ATTEMPTS = 10;

    private final KubeApiServer server;
    private final KubernetesClient client;

    RetryIT(KubeApiServer server) {
        this.server = server;
        client = server.client();
    }

    @AfterEach
    void delete() {
        client.nodes().withName(NODE).delete();
        client.resources(IwarpNode.class).withName(NODE).delete();
        client.rbac().clusterRoleBindings().withName(USER).delete();
        client.rbac().clusterRoles().withName(USER).delete();
    }

    @Test
    void whatWasRefusedIsDoneWhenItIsPermitted(TestNamespaces namespaces) throws Exception {
        OwnDefinitions.install(client);
        client.resource(role("[get]")).create();
        client.resource(Yaml.parse(
                        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: " + USER
                                + "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + USER
                                + "}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: " + USER
                                + "}]}",
                        ClusterRoleBinding.class))
                .create();
        client.resource(Yaml.parse("{apiVersion: v1, kind: Node, metadata: {name: " + NODE + "}}", Node.class))
                .create();
        Map<String, String> settings = Map.of(
                "KUBERNETES_IMPERSONATE_USERNAME",
                USER,
                // The first time between attempts, in milliseconds.
                "JAVA_TOOL_OPTIONS",
                "-Dquarkus.operator-sdk.controllers.node.retry.interval.initial=10");

        try (ControllerProcess controller = ControllerProcess.start(server, namespaces.create(), settings)) {
            await().atMost(LIMIT).until(() -> controller.metric("reconciliations_failure_total", "node") > ATTEMPTS);

            client.resource(role("[create, patch]")).update();

            await().atMost(LIMIT)
                    .until(() ->
                            client.resources(IwarpNode.class).withName(NODE).get() != null);
        }
    }

    /** All that the controller needs for a node, but for what it may do with IwarpNodes. */
    private static ClusterRole role(String verbs) {
        return Yaml.parse(
                "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + USER
                        + "}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: [get, list, watch]},"
                        + " {apiGroups: ['', coordination.k8s.io], resources: [events, secrets, leases], verbs: ['*']},"
                        + " {apiGroups: [sidewarp.io], resources: [iwarpnodes], verbs: " + verbs + "}]}",
                ClusterRole.class);
    }
}
