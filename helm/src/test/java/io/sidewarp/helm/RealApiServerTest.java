// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationList;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.testing.DraDefinitions;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that a real API server accepts the chart rendered for its version. Server-side apply refuses unknown fields.
 */
@RealApiServer
class RealApiServerTest {

    private static final long LIMIT_SECONDS = 60;
    private static final PatchContext MERGE = PatchContext.of(PatchType.STRATEGIC_MERGE);
    /** A webhook that does not answer. */
    private static final String NOBODY = "https://127.0.0.1:1/mutate-pods";
    /** Any PEM, in base64. */
    private static final String AUTHORITY =
            Base64.getEncoder().encodeToString("-----BEGIN CERTIFICATE-----".getBytes(StandardCharsets.US_ASCII));

    private static final String AUTHORITIES = """
            {"webhooks": [{"name": "namespaces.inject.sidewarp.io", "clientConfig": {"caBundle": "%s"}}]}
            """.formatted(AUTHORITY);

    private final List<HasMetadata> applied = new ArrayList<>();
    private final KubernetesClient client;

    RealApiServerTest(KubernetesClient client) {
        this.client = client;
    }

    @AfterEach
    void deleteAll() {
        // A deleted namespace would stay and accept no objects any more, because no controller manager runs.
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
        for (String example : List.of("policy.yaml", "profile.yaml", "peers.yaml")) {
            Chart.objects(Files.readString(
                            Chart.root().resolve("manifests/examples").resolve(example)))
                    .forEach(object -> {
                        if (object.getKind().equals("SidecarProfile")) {
                            object.getMetadata().setNamespace(Chart.NAMESPACE);
                        }
                        apply(object);
                    });
        }
    }

    @Test
    void takesThePodsOfTheExamples() throws IOException {
        int minor = Integer.parseInt(client.getKubernetesVersion().getMinor().replaceAll("\\D", ""));
        for (Path manifest : Chart.examplePods()) {
            if (minor < 22 && manifest.endsWith("all-reduce/pods.yaml")) {
                // This version does not know Jobs with an index.
                continue;
            }
            Chart.objects(Files.readString(manifest)).forEach(object -> {
                object.getMetadata().setNamespace("default");
                apply(object);
            });
        }
        assertThat(applied).extracting(HasMetadata::getKind).contains("Service", "Pod", "Deployment", "Job");
    }

    @Test
    void letsControllerAndNodeAgentDoWhatTheyDoAndNoMore(KubeApiServer server) {
        Chart.objects(Chart.render(version(), "createNamespace=true")).stream()
                .filter(object -> object.getApiVersion().startsWith("rbac.")
                        || Set.of(
                                        "Namespace",
                                        "ServiceAccount",
                                        "CustomResourceDefinition",
                                        "ConfigMap",
                                        "MutatingWebhookConfiguration")
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
        // The controller may change only the chart's webhook configuration.
        webhook(controller).patch(MERGE, "{\"metadata\": {\"annotations\": {\"of-the\": \"test\"}}}");
        assertThat(webhook(controller).get().getMetadata().getAnnotations()).containsEntry("of-the", "test");
        assertForbidden(() -> webhooks(controller).list());
        assertForbidden(() -> webhooks(controller).withName("of-somebody-else").delete());
        assertForbidden(
                () -> webhooks(controller).resource(webhook(controller).get()).create());
        webhook(controller).delete();
        assertThat(webhook(client).get()).isNull();
        // The clean-up deletes objects one by one.
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
        // The controller may access only its own objects, also in its own namespace.
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
        // The controller evicts pods of all namespaces. Without the permission, the answer is 403.
        assertThatThrownBy(() -> controller
                        .pods()
                        .inNamespace("default")
                        .withName("gone")
                        .evict())
                .isInstanceOfSatisfying(
                        KubernetesClientException.class,
                        e -> assertThat(e.getCode()).isEqualTo(HttpURLConnection.HTTP_NOT_FOUND));

        // Events of the node agents' DaemonSet tell why pods are refused.
        assertThatCode(() ->
                        controller.v1().events().inNamespace(Chart.NAMESPACE).list())
                .doesNotThrowAnyException();
        assertForbidden(() -> controller.v1().events().inNamespace("default").list());

        KubernetesClient agent = server.clientForServiceAccount(Chart.NAMESPACE, "sidewarp-node-agent");
        assertThat(agent.resources(IwarpNode.class).list().getItems()).isEmpty();
        assertForbidden(() -> agent.resources(IwarpNicPolicy.class).list());
        assertThat(agent.pods().inNamespace(Chart.NAMESPACE).withName("none").get())
                .isNull();
        assertForbidden(() -> agent.pods().inNamespace(Chart.NAMESPACE).list());
        assertForbidden(
                () -> agent.pods().inNamespace(Chart.NAMESPACE).withName("none").evict());
        assertForbidden(() -> agent.secrets().inNamespace(Chart.NAMESPACE).list());
    }

    @Test
    void letsControllerAndNodeAgentUseResourceClaims(KubeApiServer server) throws IOException {
        DraDefinitions.install(client, true);
        Chart.objects(Chart.render(Chart.WITH_CLAIMS, "createNamespace=true")).stream()
                .filter(object -> object.getApiVersion().startsWith("rbac.")
                        || Set.of("Namespace", "ServiceAccount", "DeviceClass").contains(object.getKind()))
                .forEach(this::apply);
        List<HasMetadata> example =
                Chart.objects(Files.readString(Chart.root().resolve("manifests/examples/claim.yaml")));
        example.forEach(object -> object.getMetadata().setNamespace(Chart.NAMESPACE));
        ResourceClaimTemplate template = (ResourceClaimTemplate) example.getFirst();

        KubernetesClient controller = server.clientForServiceAccount(Chart.NAMESPACE, "sidewarp-controller");
        assertThat(controller
                        .resources(DeviceClass.class)
                        .withName("rnic.sidewarp.io")
                        .get())
                .isNotNull();
        apply(controller, template);
        assertThat(controller
                        .resources(ResourceClaimTemplate.class)
                        .inAnyNamespace()
                        .list()
                        .getItems())
                .hasSize(1);
        controller.resource(template).delete();
        assertThat(controller
                        .resources(ResourceClaim.class)
                        .inAnyNamespace()
                        .list()
                        .getItems())
                .isEmpty();
        assertForbidden(() -> controller.resources(DeviceClass.class).list());
        assertForbidden(() -> controller.resources(ResourceSlice.class).list());
        assertForbidden(() -> controller
                .resources(ResourceClaim.class)
                .inNamespace(Chart.NAMESPACE)
                .withName("any")
                .delete());

        KubernetesClient agent = server.clientForServiceAccount(Chart.NAMESPACE, "sidewarp-node-agent");
        ResourceSlice slice = (ResourceSlice) Chart.parse("""
                apiVersion: resource.k8s.io/v1
                kind: ResourceSlice
                metadata: {name: node-a-rnic-0}
                spec:
                  driver: rnic.sidewarp.io
                  nodeName: node-a
                  pool: {name: node-a, generation: 1, resourceSliceCount: 1}
                  devices:
                    - {name: soft-0, attributes: {provider: {string: software}}}
                """);
        slice = agent.resource(slice).create();
        assertThat(agent.resource(slice).get().getSpec().getDevices()).hasSize(1);
        slice.getSpec().getPool().setGeneration(2L);
        agent.resource(slice).update();
        agent.resource(slice).delete();
        assertThat(client.resources(ResourceSlice.class).list().getItems()).isEmpty();
        assertThat(agent.resources(ResourceClaim.class)
                        .inNamespace(Chart.NAMESPACE)
                        .withName("none")
                        .get())
                .isNull();
        assertForbidden(
                () -> agent.resources(ResourceClaim.class).inAnyNamespace().list());
        assertForbidden(() -> agent.resource(template).create());
        assertForbidden(() -> agent.resources(ResourceSlice.class).list());
    }

    @Test
    void isInstalledUpgradedAndUninstalledByHelmWithoutARest(KubeApiServer server) {
        String namespace = "sidewarp-by-helm";
        Chart.helm()
                .install()
                .withName("sidewarp")
                .withNamespace(namespace)
                .createNamespace()
                .set("webhook.url", NOBODY)
                .withKubeConfig(server.kubeconfig())
                .call();
        assertThat(replicas(namespace)).isEqualTo(2);
        // The test patches the authorities as the controller does.
        webhook(client).patch(MERGE, AUTHORITIES);

        Chart.helm()
                .upgrade()
                .withName("sidewarp")
                .withNamespace(namespace)
                .set("controller.replicas", 3)
                .set("webhook.url", NOBODY)
                .withKubeConfig(server.kubeconfig())
                .call();
        assertThat(replicas(namespace)).isEqualTo(3);
        assertThat(webhook(client).get().getMetadata().getOwnerReferences())
                .extracting(OwnerReference::getUid)
                .containsExactly(client.namespaces()
                        .withName(namespace)
                        .get()
                        .getMetadata()
                        .getUid());
        assertThat(webhook(client).get().getWebhooks())
                .first()
                .satisfies(webhook ->
                        assertThat(webhook.getClientConfig().getCaBundle()).isEqualTo(AUTHORITY));
        String labelled = "sidewarp-by-helm-labelled";
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(labelled)
                        .addToLabels("sidewarp.io/inject", "enabled")
                        .endMetadata()
                        .build())
                .create();
        assertThatThrownBy(() -> createPod(labelled)).hasMessageContaining("failed calling webhook");

        // The hook is a Job, which nothing runs here.
        Helm.uninstall("sidewarp")
                .withNamespace(namespace)
                .noHooks()
                .withKubeConfig(server.kubeconfig())
                .call();
        assertThat(webhook(client).get()).isNull();
        Awaitility.await()
                .atMost(Duration.ofSeconds(LIMIT_SECONDS))
                .untilAsserted(() -> assertThatCode(() -> createPod(labelled)).doesNotThrowAnyException());
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
                .extracting(definition -> definition.getMetadata().getName())
                .noneMatch(name -> name.endsWith(".sidewarp.io"));
    }

    /** Without the former authorities, pods would be refused until the controller has written its own. */
    @Test
    void trustsWhatTheFormerReleasesWebhookConfigurationTrusts(KubeApiServer server) {
        MutatingWebhookConfiguration former =
                Chart.find(Chart.render(version()), MutatingWebhookConfiguration.class, "sidewarp-webhook");
        former.getMetadata().setName("sidewarp");
        former.getMetadata().setLabels(Map.of("app.kubernetes.io/managed-by", "sidewarp-controller"));
        former.getWebhooks().forEach(webhook -> webhook.getClientConfig().setCaBundle(AUTHORITY));
        apply(former);
        String namespace = "sidewarp-by-helm-anew";
        Chart.helm()
                .install()
                .withName("sidewarp")
                .withNamespace(namespace)
                .createNamespace()
                .withKubeConfig(server.kubeconfig())
                .call();
        try {
            assertThat(webhook(client).get().getWebhooks())
                    .hasSizeGreaterThanOrEqualTo(2)
                    .allSatisfy(webhook ->
                            assertThat(webhook.getClientConfig().getCaBundle()).isEqualTo(AUTHORITY));
        } finally {
            Helm.uninstall("sidewarp")
                    .withNamespace(namespace)
                    .noHooks()
                    .withKubeConfig(server.kubeconfig())
                    .call();
        }
    }

    private static NonNamespaceOperation<
                    MutatingWebhookConfiguration,
                    MutatingWebhookConfigurationList,
                    Resource<MutatingWebhookConfiguration>>
            webhooks(KubernetesClient by) {
        return by.admissionRegistration().v1().mutatingWebhookConfigurations();
    }

    private static Resource<MutatingWebhookConfiguration> webhook(KubernetesClient by) {
        return webhooks(by).withName("sidewarp-webhook");
    }

    private void createPod(String namespace) {
        client.pods()
                .inNamespace(namespace)
                .resource(new PodBuilder()
                        .withNewMetadata()
                        .withName("app")
                        .endMetadata()
                        .withNewSpec()
                        .addNewContainer()
                        .withName("app")
                        .withImage("example")
                        .endContainer()
                        .endSpec()
                        .build())
                .dryRun()
                .create();
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
