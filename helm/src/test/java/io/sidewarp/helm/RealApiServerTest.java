// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.testing.RealApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real API server takes what the chart renders for its version. Server-side apply refuses fields that it does not know. */
@RealApiServer
class RealApiServerTest {

    private static final long LIMIT_SECONDS = 60;

    private final List<HasMetadata> applied = new ArrayList<>();
    private final KubernetesClient client;

    RealApiServerTest(KubernetesClient client) {
        this.client = client;
    }

    @AfterEach
    void deleteAll() {
        applied.reversed().forEach(object -> client.resource(object).delete());
    }

    @Test
    void takesAllThatTheChartInstallsAndTheExamples(@TempDir Path scratch) throws IOException {
        String version = client.getKubernetesVersion().getGitVersion().replaceFirst("^v", "");
        String rendered = Chart.render(version, "createNamespace=true");
        Chart.objects(rendered).forEach(this::apply);
        Chart.objects(Chart.renderCleanUp(version, scratch)).forEach(this::apply);
        ConfigMap installation = Chart.find(rendered, ConfigMap.class, "sidewarp-operator");
        installation.getData().values().stream().map(Chart::parse).forEach(this::apply);
        assertThat(applied)
                .extracting(HasMetadata::getKind)
                .contains("DaemonSet", "MutatingWebhookConfiguration", "Job", "NetworkPolicy", "PodDisruptionBudget");

        client.resources(CustomResourceDefinition.class)
                .withName("sidecarprofiles.sidewarp.io")
                .waitUntilCondition(RealApiServerTest::isEstablished, LIMIT_SECONDS, TimeUnit.SECONDS);
        client.resources(CustomResourceDefinition.class)
                .withName("iwarpnicpolicies.sidewarp.io")
                .waitUntilCondition(RealApiServerTest::isEstablished, LIMIT_SECONDS, TimeUnit.SECONDS);
        for (String example : List.of("policy.yaml", "profile.yaml")) {
            HasMetadata object = Chart.parse(
                    Files.readString(Chart.root().resolve("manifests/examples").resolve(example)));
            if (object.getKind().equals("SidecarProfile")) {
                object.getMetadata().setNamespace(Chart.NAMESPACE);
            }
            apply(object);
        }
    }

    private void apply(HasMetadata object) {
        applied.add(client.resource(object)
                .fieldManager("helm-test")
                .forceConflicts()
                .serverSideApply());
    }

    private static boolean isEstablished(CustomResourceDefinition definition) {
        return definition.getStatus() != null
                && definition.getStatus().getConditions().stream()
                        .anyMatch(condition -> condition.getType().equals("Established")
                                && condition.getStatus().equals("True"));
    }
}
