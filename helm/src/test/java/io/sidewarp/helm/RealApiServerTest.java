// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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
        // A namespace would stay, and take no objects any more, since no controller manager runs.
        applied.reversed().stream()
                .filter(object -> !object.getKind().equals("Namespace"))
                .forEach(object -> client.resource(object).delete());
    }

    @Test
    void takesAllThatTheChartInstallsAndTheExamples(@TempDir Path scratch) throws IOException {
        String rendered = Chart.render(version(), "createNamespace=true");
        Chart.objects(rendered).forEach(this::apply);
        Chart.objects(Chart.renderCleanUp(version(), scratch)).forEach(this::apply);
        ConfigMap installation = Chart.find(rendered, ConfigMap.class, "sidewarp-operator");
        installation.getData().values().stream().map(Chart::parse).forEach(this::apply);
        assertThat(applied)
                .extracting(HasMetadata::getKind)
                .contains("DaemonSet", "MutatingWebhookConfiguration", "Job", "NetworkPolicy", "PodDisruptionBudget");

        awaitDefinitions();
        for (String example : List.of("policy.yaml", "profile.yaml")) {
            HasMetadata object = Chart.parse(
                    Files.readString(Chart.root().resolve("manifests/examples").resolve(example)));
            if (object.getKind().equals("SidecarProfile")) {
                object.getMetadata().setNamespace(Chart.NAMESPACE);
            }
            apply(object);
        }
    }

    @Test
    void letsControllerAndNodeAgentDoWhatTheyDoAndNoMore(KubeApiServer server) {
        Chart.objects(Chart.render(version(), "createNamespace=true")).stream()
                .filter(object -> object.getApiVersion().startsWith("rbac.")
                        || List.of("Namespace", "ServiceAccount", "CustomResourceDefinition", "ConfigMap")
                                .contains(object.getKind()))
                .forEach(this::apply);
        awaitDefinitions();
        KubernetesClient controller = server.clientForServiceAccount(Chart.NAMESPACE, "sidewarp-controller");
        ConfigMap installation = controller
                .configMaps()
                .inNamespace(Chart.NAMESPACE)
                .withName("sidewarp-operator")
                .get();
        installation.getData().values().stream().map(Chart::parse).forEach(object -> apply(controller, object));
        // As it cleans up: one by one.
        assertThat(controller.resources(IwarpNicPolicy.class).list().getItems()).isEmpty();
        assertThat(controller.pods().inNamespace(Chart.NAMESPACE).list().getItems())
                .isEmpty();
        controller
                .secrets()
                .inNamespace(Chart.NAMESPACE)
                .withName("sidewarp-webhook-certificate")
                .delete();
        assertForbidden(() -> controller.resources(IwarpNicPolicy.class).delete());
        assertForbidden(() -> controller.secrets().inNamespace(Chart.NAMESPACE).delete());
        // Only what is its own, also of its own namespace.
        assertForbidden(() -> controller.secrets().inNamespace(Chart.NAMESPACE).list());
        assertForbidden(() -> controller
                .secrets()
                .inNamespace(Chart.NAMESPACE)
                .withName("of-somebody-else")
                .get());
        assertForbidden(() -> controller
                .apps()
                .daemonSets()
                .inNamespace(Chart.NAMESPACE)
                .withName("of-somebody-else")
                .delete());
        assertThat(controller.nodes().list().getItems()).isEmpty();
        assertThat(controller
                        .apiextensions()
                        .v1()
                        .customResourceDefinitions()
                        .withName("network-attachment-definitions.k8s.cni.cncf.io")
                        .get())
                .isNull();
        assertForbidden(() ->
                controller.apiextensions().v1().customResourceDefinitions().list());
        assertForbidden(() -> controller.secrets().inNamespace("kube-system").list());
        assertForbidden(() -> controller.pods().inAnyNamespace().list());

        KubernetesClient agent = server.clientForServiceAccount(Chart.NAMESPACE, "sidewarp-node-agent");
        assertThat(agent.resources(IwarpNode.class).list().getItems()).isEmpty();
        assertForbidden(() -> agent.resources(IwarpNicPolicy.class).list());
        assertForbidden(() -> agent.secrets().inNamespace(Chart.NAMESPACE).list());
    }

    @Test
    void isInstalledUpgradedAndUninstalledByHelmWithoutARest(KubeApiServer server) {
        String namespace = "sidewarp-by-helm";
        Chart.helm()
                .install()
                .withName("sidewarp")
                .withNamespace(namespace)
                .createNamespace()
                .withKubeConfig(server.kubeconfig())
                .call();
        assertThat(replicas(namespace)).isEqualTo(2);

        Chart.helm()
                .upgrade()
                .withName("sidewarp")
                .withNamespace(namespace)
                .set("controller.replicas", 3)
                .withKubeConfig(server.kubeconfig())
                .call();
        assertThat(replicas(namespace)).isEqualTo(3);

        // The hook is a Job, which nothing runs here.
        Helm.uninstall("sidewarp")
                .withNamespace(namespace)
                .noHooks()
                .withKubeConfig(server.kubeconfig())
                .call();
        assertThat(client.apps().deployments().inNamespace(namespace).list().getItems())
                .isEmpty();
        assertThat(client.configMaps().inNamespace(namespace).list().getItems()).isEmpty();
        assertThat(client.secrets().inNamespace(namespace).list().getItems()).isEmpty();
        assertThat(client.serviceAccounts().inNamespace(namespace).list().getItems())
                .isEmpty();
        assertThat(client.rbac().clusterRoles().list().getItems())
                .extracting(role -> role.getMetadata().getName())
                .noneMatch(name -> name.startsWith("sidewarp"));
        assertThat(client.apiextensions()
                        .v1()
                        .customResourceDefinitions()
                        .list()
                        .getItems())
                .isEmpty();
    }

    private int replicas(String namespace) {
        return client.apps()
                .deployments()
                .inNamespace(namespace)
                .withName("sidewarp-controller")
                .get()
                .getSpec()
                .getReplicas();
    }

    private static void assertForbidden(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        KubernetesClientException.class,
                        refusal -> assertThat(refusal.getCode()).isEqualTo(HttpURLConnection.HTTP_FORBIDDEN));
    }

    private String version() {
        return client.getKubernetesVersion().getGitVersion().replaceFirst("^v", "");
    }

    private void awaitDefinitions() {
        for (String plural : List.of("iwarpnicpolicies", "iwarpnodes", "sidecarprofiles")) {
            client.resources(CustomResourceDefinition.class)
                    .withName(plural + ".sidewarp.io")
                    .waitUntilCondition(RealApiServerTest::isEstablished, LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    private void apply(HasMetadata object) {
        apply(client, object);
    }

    private void apply(KubernetesClient by, HasMetadata object) {
        applied.add(
                by.resource(object).fieldManager("helm-test").forceConflicts().serverSideApply());
    }

    private static boolean isEstablished(CustomResourceDefinition definition) {
        return definition.getStatus() != null
                && definition.getStatus().getConditions().stream()
                        .anyMatch(condition -> condition.getType().equals("Established")
                                && condition.getStatus().equals("True"));
    }
}
