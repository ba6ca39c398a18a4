// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.controller.LogLines;
import io.sidewarp.operator.controller.OwnDefinitions;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.injection.IdentityOffer;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

@RealApiServer
class NamespaceFactsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String NAME = "facts";

    @Test
    void whatCannotBeListedAtTheStartIsListedLater(
            KubeApiServer server, KubernetesClient admin, TestNamespaces namespaces) {
        OwnDefinitions.install(admin);
        String namespace = namespaces.create();
        admin.resource(new ServiceAccountBuilder()
                        .withNewMetadata()
                        .withNamespace(namespace)
                        .withName(NAME)
                        .endMetadata()
                        .build())
                .create();
        try (KubernetesClient client = server.clientForServiceAccount(namespace, NAME);
                LogLines log = LogLines.of(NamespaceFacts.class);
                LogLines logOfFeatures = LogLines.of(ClusterFeatures.class);
                ClusterFeatures features = new ClusterFeatures(client);
                NamespaceFacts facts = new NamespaceFacts(client, features, () -> IdentityOffer.NONE)) {
            features.start();
            facts.start();
            for (String kind : List.of("Namespace", "SidecarProfile", "IwarpNicPolicy", "Node")) {
                await().atMost(LIMIT)
                        .until(() -> Stream.concat(log.all().stream(), logOfFeatures.all().stream())
                                .anyMatch(line -> line.startsWith("event=not-followed kind=" + kind + " cause=")));
            }
            assertThat(facts.isReady()).isFalse();

            ClusterRoleBinding permission =
                    admin.resource(permission(namespace)).create();
            try {
                await().atMost(LIMIT).until(facts::isReady);
            } finally {
                admin.resource(permission).delete();
            }
        }
    }

    private static ClusterRoleBinding permission(String namespace) {
        return new ClusterRoleBindingBuilder()
                .withNewMetadata()
                .withName(namespace)
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "cluster-admin")
                .addNewSubject()
                .withKind("ServiceAccount")
                .withNamespace(namespace)
                .withName(NAME)
                .endSubject()
                .build();
    }
}
