// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.SidecarProfile;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.kubelet.StandInKubelet;
import java.net.URI;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The life of an installation on a real API server: the chart is installed by Helm; the packaged controller and node agents run
 * as processes with the environment, the service accounts and the permissions that the chart gives them; a stand-in speaks the
 * kubelet's device protocols. The tests are chapters of one story, in this order.
 */
@RealApiServer(controllerManager = true)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class OperatorIT {
    private static final String NAMESPACE = "sidewarp-system";
    private static final String APPLICATIONS = "shop";
    private static final List<String> NODES = List.of("node-a", "node-b");

    private static KubeApiServer server;
    private static KubernetesClient client;
    private static PodProcesses pods;
    private static HelmRelease release;
    private static final Map<String, StandInKubelet> KUBELETS = new HashMap<>();
    private static final Map<String, Integer> AGENT_PORTS = new HashMap<>();
    private static StandInService webhook;

    @BeforeAll
    static void start(KubeApiServer shared) throws Exception {
        server = shared;
        client = shared.client();
        release = new HelmRelease(shared.kubeconfig(), NAMESPACE);
        for (String name : NODES) {
            StandInKubelet kubelet = new StandInKubelet(Directories.temporary(name)).start();
            KUBELETS.put(name, kubelet);
            AGENT_PORTS.put(name, Ports.free());
            Node node = new NodeBuilder()
                    .withNewMetadata()
                    .withName(name)
                    .addToLabels("kubernetes.io/os", "linux")
                    .addToLabels("rack", name.substring(name.length() - 1))
                    .endMetadata()
                    .build();
            client.nodes().resource(node).create();
            kubelet.reportTo(client, name);
        }
        webhook = new StandInService(() -> pods == null ? List.of() : pods.readyPorts("sidewarp-controller"));
        pods = new PodProcesses(shared, NAMESPACE, NODES.getFirst(), OperatorIT::program);
    }

    @AfterAll
    static void stop() {
        if (pods != null) {
            pods.close();
        }
        if (webhook != null) {
            webhook.close();
        }
        KUBELETS.values().forEach(StandInKubelet::close);
        if (client != null) {
            client.namespaces().withName(APPLICATIONS).delete();
            NODES.forEach(name -> client.nodes().withName(name).delete());
        }
    }

    private static Optional<PodProcesses.Program> program(
            Pod pod, Container container, Map<String, String> environment) {
        String application = switch (container.getName()) {
            case "controller", "uninstall" -> "controller";
            case "node-agent" -> "node-agent";
            default -> throw new IllegalArgumentException("nothing runs as " + container.getName());
        };
        int port = container.getName().equals("node-agent")
                ? AGENT_PORTS.get(pod.getSpec().getNodeName())
                : Ports.free();
        environment.put("QUARKUS_HTTP_PORT", Integer.toString(port));
        environment.put("QUARKUS_HTTP_HOST", "127.0.0.1");
        environment.put("SIDEWARP_OPERATOR_WEBHOOK_HOST", "127.0.0.1");
        int webhookPort = Ports.free();
        environment.put("SIDEWARP_OPERATOR_WEBHOOK_PORT", Integer.toString(webhookPort));
        environment.put("SIDEWARP_OPERATOR_WEBHOOK_CERTIFICATE_NAMES", "127.0.0.1");
        if (application.equals("node-agent")) {
            String node = pod.getSpec().getNodeName();
            StandInKubelet kubelet = KUBELETS.get(node);
            Path state = Directories.temporary("state-" + node);
            environment.put("SIDEWARP_AGENT_STATE_DIRECTORY", state.toString());
            environment.put(
                    "SIDEWARP_AGENT_DEVICE_PLUGIN_DIRECTORY",
                    kubelet.devicePluginDirectory().toString());
            environment.put(
                    "SIDEWARP_AGENT_POD_RESOURCES_SOCKET",
                    kubelet.podResourcesSocket().toString());
        }
        List<String> command = new ArrayList<>(List.of(Programs.java()));
        command.addAll(Programs.jvmFlags());
        command.addAll(List.of(
                "-Xmx128m",
                "-jar",
                Programs.root()
                        .resolve("operator/" + application + "/target/quarkus-app/quarkus-run.jar")
                        .toString()));
        command.addAll(container.getArgs());
        Optional<URI> readiness = container.getReadinessProbe() == null
                ? Optional.empty()
                : Optional.of(URI.create("http://127.0.0.1:" + port
                        + container.getReadinessProbe().getHttpGet().getPath()));
        return Optional.of(new PodProcesses.Program(command, readiness, webhookPort));
    }

    @Test
    @Order(1)
    void helmInstallsAndEverythingBecomesReady() {
        release.install(Map.of(
                "controller.replicas", 1, "webhook.url", "https://127.0.0.1:" + webhook.port() + "/mutate-pods"));

        eventually(() -> assertThat(client.apps()
                        .deployments()
                        .inNamespace(NAMESPACE)
                        .withName("sidewarp-controller")
                        .get()
                        .getStatus()
                        .getReadyReplicas())
                .isEqualTo(1));
        eventually(() -> assertThat(client.apps()
                        .daemonSets()
                        .inNamespace(NAMESPACE)
                        .withName("sidewarp-node-agent")
                        .get()
                        .getStatus()
                        .getNumberReady())
                .isEqualTo(NODES.size()));
        for (String node : NODES) {
            eventually(() -> assertThat(holding(iwarpNode(node))).isEqualTo("Ready SoftwareOffered"));
            eventually(() -> assertThat(client.nodes()
                            .withName(node)
                            .get()
                            .getStatus()
                            .getAllocatable()
                            .get(SidewarpApi.RNIC_RESOURCE))
                    .hasToString("256"));
        }
    }

    @Test
    @Order(2)
    void podsOfALabelledNamespaceGetASidecarAndOthersDoNot() {
        apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {sidewarp.io/inject: enabled}}}");
        apply(
                "{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: fast, namespace: shop}, spec: {rnics: 1}}");
        eventually(() -> assertThat(conditions(profile("fast"))).contains("Ready Valid"));

        Pod injected = pod("injected", "sidewarp.io/profile: fast");
        Pod optedOut = pod("opted-out", "sidewarp.io/inject: disabled");

        assertThat(injected.getSpec().getVolumes()).extracting("name").contains("sidewarp-api", "sidewarp-shared");
        assertThat(sidecar(injected).getResources().getLimits()).containsKey(SidewarpApi.RNIC_RESOURCE);
        assertThat(containers(optedOut)).containsExactly("app");
    }

    @Test
    @Order(3)
    void aPodThatContradictsItselfIsRefusedWithAHelpfulMessage() {
        assertThatThrownBy(() -> pod("refused", "sidewarp.io/profile: missing"))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("SidecarProfile missing, which namespace shop does not have; create it there");
    }

    @Test
    @Order(4)
    void aDryRunIsAnsweredAsTheRealCall() {
        assertThat(containers(dryRun())).contains("sidewarp");
        assertThat(client.pods().inNamespace(APPLICATIONS).withName("dry").get())
                .isNull();
    }

    @Test
    @Order(5)
    void aPolicyReachesTheNodesItSelectsAndTellsItsState() {
        apply(
                "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: rack-a}, spec: {nodeSelector: {rack: a},"
                        + " nicSelector: {vendors: ['1425']}, software: {devices: 3}}}");

        eventually(() -> assertThat(iwarpNode("node-a").getStatus().devices()).isEqualTo(3));
        eventually(() -> assertThat(KUBELETS.get("node-a").allocatable(SidewarpApi.RNIC_RESOURCE))
                .isEqualTo(3));
        eventually(() -> assertThat(conditions(policy("rack-a"))).contains("Ready AllNodesReady"));
        assertThat(policy("rack-a").getStatus().selectedNodes()).isEqualTo(1);
        assertThat(iwarpNode("node-b").getSpec().policies()).isEmpty();
        eventually(() -> assertThat(
                        client.v1().events().inNamespace("default").list().getItems())
                .anySatisfy(event -> {
                    assertThat(event.getInvolvedObject().getName()).isEqualTo("rack-a");
                    assertThat(event.getReason()).isEqualTo("AllNodesReady");
                }));
    }

    @Test
    @Order(6)
    void anInvalidProfileIsDegradedAndItsPodsAreRefused() {
        apply(
                "{apiVersion: sidewarp.io/v1alpha1, kind: SidecarProfile, metadata: {name: odd, namespace: shop}, spec: {settings:"
                        + " {sidewarp.api.socket: /tmp/x}}}");

        eventually(() -> assertThat(conditions(profile("odd"))).contains("Degraded Invalid"));
        assertThatThrownBy(() -> pod("odd", "sidewarp.io/profile: odd"))
                .hasMessageContaining("settings has sidewarp.api.socket, which the operator sets itself");
    }

    @Test
    @Order(7)
    void anAbsentApiServerIsOutlived() {
        server.stopApiServer();
        try {
            KUBELETS.values()
                    .forEach(kubelet -> assertThat(kubelet.allocatable(SidewarpApi.RNIC_RESOURCE))
                            .isPositive());
        } finally {
            server.startApiServer();
        }

        eventually(() -> assertThat(containers(pod("after-restart-" + System.nanoTime(), "")))
                .contains("sidewarp"));
        client.resources(IwarpNicPolicy.class).withName("rack-a").edit(policy -> {
            policy.setSpec(Serialization.unmarshal(
                    "---\n{nodeSelector: {rack: b}, nicSelector: {vendors: ['1425']}, software: {devices: 5}}",
                    policy.getSpec().getClass()));
            return policy;
        });
        eventually(() -> assertThat(iwarpNode("node-b").getStatus().devices()).isEqualTo(5));
        eventually(() -> assertThat(iwarpNode("node-a").getStatus().devices()).isEqualTo(256));
    }

    /** The API server would refuse a certificate whose authority it does not know yet, and with it every pod. */
    @Test
    @Order(8)
    void aCertificateIsReplacedWithoutAPodRefused() {
        X509Certificate former = webhook.certificate();

        client.secrets()
                .inNamespace(NAMESPACE)
                .withName("sidewarp-webhook-certificate")
                .delete();
        await().atMost(Patience.LONG_LIMIT).until(() -> {
            for (int i = 0; i < 5; i++) {
                assertThat(containers(dryRun())).contains("sidewarp");
            }
            return !webhook.certificate().equals(former);
        });

        assertThat(containers(dryRun())).contains("sidewarp");
    }

    private static Pod dryRun() {
        return client.pods()
                .inNamespace(APPLICATIONS)
                .resource(parse("dry", ""))
                .dryRun()
                .create();
    }

    @Test
    @Order(9)
    void anUpgradeKeepsRunningPodsAndReachesNewOnes() {
        Pod before =
                client.pods().inNamespace(APPLICATIONS).withName("injected").get();
        List<Long> agents = pods.processes("sidewarp-node-agent").stream()
                .map(OwnedProcess::pid)
                .toList();

        release.upgrade(Map.of("sidecar.image.tag", "next", "nodeAgent.logLevel", "DEBUG"));

        eventually(() -> assertThat(sidecar(pod("new-" + System.nanoTime(), "")).getImage())
                .endsWith(":next"));
        eventually(() -> assertThat(pods.processes("sidewarp-node-agent").stream()
                        .map(OwnedProcess::pid)
                        .toList())
                .hasSize(NODES.size())
                .doesNotContainAnyElementsOf(agents));
        for (String node : NODES) {
            eventually(() -> assertThat(KUBELETS.get(node).allocatable(SidewarpApi.RNIC_RESOURCE))
                    .isPositive());
        }
        assertThat(client.pods()
                        .inNamespace(APPLICATIONS)
                        .withName("injected")
                        .get()
                        .getMetadata()
                        .getUid())
                .isEqualTo(before.getMetadata().getUid());
    }

    @Test
    @Order(10)
    void uninstallLeavesNothingBehind() {
        release.uninstall();

        eventually(() -> assertThat(left()).isEmpty());
        eventually(() -> assertThat(pods.processes("sidewarp")).isEmpty());
        assertThat(client.pods().inNamespace(APPLICATIONS).withName("injected").get())
                .isNotNull();
    }

    private static List<String> left() {
        return Stream.<List<? extends HasMetadata>>of(
                        client.admissionRegistration()
                                .v1()
                                .mutatingWebhookConfigurations()
                                .list()
                                .getItems(),
                        client.apps().daemonSets().inNamespace(NAMESPACE).list().getItems(),
                        client.apps()
                                .deployments()
                                .inNamespace(NAMESPACE)
                                .list()
                                .getItems(),
                        client.batch().v1().jobs().inNamespace(NAMESPACE).list().getItems(),
                        client.leases().inNamespace(NAMESPACE).list().getItems(),
                        client.configMaps().inNamespace(NAMESPACE).list().getItems(),
                        client.secrets().inNamespace(NAMESPACE).list().getItems(),
                        client.services().inNamespace(NAMESPACE).list().getItems(),
                        client.rbac().clusterRoles().list().getItems(),
                        client.rbac().clusterRoleBindings().list().getItems(),
                        client.apiextensions()
                                .v1()
                                .customResourceDefinitions()
                                .list()
                                .getItems())
                .flatMap(List::stream)
                .filter(resource -> resource.getMetadata().getName().contains("sidewarp"))
                // Kubernetes itself removes the tokens of service accounts.
                .filter(resource -> !resource.getMetadata().getName().contains("-token-"))
                .map(resource ->
                        resource.getKind() + " " + resource.getMetadata().getName())
                .toList();
    }

    private static void eventually(ThrowingRunnable assertion) {
        await().atMost(Patience.LONG_LIMIT)
                .ignoreException(KubernetesClientException.class)
                .ignoreException(NullPointerException.class)
                .untilAsserted(assertion);
    }

    private static void apply(String yaml) {
        client.resource("---\n" + yaml).create();
    }

    private static Pod pod(String name, String annotations) {
        return client.pods()
                .inNamespace(APPLICATIONS)
                .resource(parse(name, annotations))
                .create();
    }

    private static Pod parse(String name, String annotations) {
        return Serialization.unmarshal(
                "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", annotations: {" + annotations
                        + "}}, spec: {containers: [{name: app, image: example}]}}",
                Pod.class);
    }

    private static IwarpNode iwarpNode(String name) {
        return client.resources(IwarpNode.class).withName(name).get();
    }

    private static IwarpNicPolicy policy(String name) {
        return client.resources(IwarpNicPolicy.class).withName(name).get();
    }

    private static SidecarProfile profile(String name) {
        return client.resources(SidecarProfile.class)
                .inNamespace(APPLICATIONS)
                .withName(name)
                .get();
    }

    private static String holding(IwarpNode node) {
        return holding(node.getStatus().conditions());
    }

    private static String conditions(IwarpNicPolicy policy) {
        return holding(policy.getStatus().conditions());
    }

    private static String conditions(SidecarProfile profile) {
        return holding(profile.getStatus().conditions());
    }

    private static String holding(List<StatusCondition> conditions) {
        return conditions.stream()
                .filter(StatusCondition::holds)
                .map(condition -> condition.type() + " " + condition.reason())
                .findFirst()
                .orElse("none");
    }

    private static Container sidecar(Pod pod) {
        return Stream.concat(pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream())
                .filter(container -> container.getName().equals("sidewarp"))
                .findFirst()
                .orElseThrow();
    }

    private static List<String> containers(Pod pod) {
        return Stream.concat(pod.getSpec().getInitContainers().stream(), pod.getSpec().getContainers().stream())
                .map(Container::getName)
                .toList();
    }
}
