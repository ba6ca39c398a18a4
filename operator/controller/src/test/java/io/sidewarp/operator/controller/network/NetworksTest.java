// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.Operator;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.installation.Uninstallation;
import io.sidewarp.operator.controller.node.NodeLabels;
import io.sidewarp.operator.controller.node.NodeReconciler;
import io.sidewarp.operator.controller.policy.PolicyReconciler;
import io.sidewarp.operator.testing.CustomResourceDefinitions;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.net.URL;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The reconcilers on a real API server that gets, has and loses the definitions of the SR-IOV network operator and Multus. */
@RealApiServer
class NetworksTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String NODE = "networks-test";
    private static final List<Class<? extends CustomResource<?, ?>>> OWN =
            List.of(IwarpNicPolicy.class, IwarpNode.class);

    private static KubernetesClient client;
    private static String sriovNamespace;
    private static String networkNamespace;
    private static OperatorConfig config;

    private InstalledNetworks networks;
    private Operator operator;

    @BeforeAll
    static void prepare(KubernetesClient shared, TestNamespaces namespaces) {
        client = shared;
        sriovNamespace = namespaces.create();
        networkNamespace = namespaces.create();
        config = settings(true);
        for (Class<? extends CustomResource<?, ?>> type : OWN) {
            CustomResourceDefinitions.install(
                    client, resource("/META-INF/fabric8/" + HasMetadata.getFullResourceName(type) + "-v1.yml"));
        }
    }

    private static OperatorConfig settings(boolean useSriovOperator) {
        return TestSettings.of(Map.of(
                "sidewarp.operator.sriov.enabled", Boolean.toString(useSriovOperator),
                "sidewarp.operator.sriov.namespace", sriovNamespace,
                "sidewarp.operator.multus.namespace", networkNamespace));
    }

    @BeforeEach
    void start() {
        client.nodes()
                .resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(NODE)
                        .addToLabels("rack", "a")
                        .endMetadata()
                        .build())
                .create();
        make(config);
    }

    /** A controller that {@link #run} starts. */
    private void make(OperatorConfig settings) {
        networks = new InstalledNetworks(client, settings);
        operator =
                new Operator(overrides -> overrides.withKubernetesClient(client).withCloseClientOnStop(false));
        NodeLabels labels = new NodeLabels();
        operator.register(new NodeReconciler(settings, networks, labels, new Uninstallation(client, settings)));
        operator.register(new PolicyReconciler(
                settings, new EventRecorder(client, "test"), networks, new NetworkObjects(networks, settings), labels));
    }

    @AfterEach
    void stop() {
        client.resources(IwarpNicPolicy.class).delete();
        client.nodes().withName(NODE).delete();
        eventually(() -> {
            // As a cluster's garbage collector: until the controller knows that the node is gone it may write it once
            // more.
            client.resources(IwarpNode.class).withName(NODE).delete();
            assertThat(client.resources(IwarpNicPolicy.class).list().getItems()).isEmpty();
        });
        operator.stop();
        networks.close();
        uninstall();
    }

    @AfterAll
    static void uninstall() {
        for (Upstream upstream : Upstream.values()) {
            client.apiextensions()
                    .v1()
                    .customResourceDefinitions()
                    .withName(upstream.definition())
                    .delete();
        }
        eventually(() -> assertThat(client.apiextensions()
                        .v1()
                        .customResourceDefinitions()
                        .list()
                        .getItems())
                .extracting(definition -> definition.getMetadata().getName())
                .doesNotContain(Upstream.SRIOV_POLICY.definition(), Upstream.NETWORK.definition()));
    }

    private void run() {
        networks.start();
        operator.start();
    }

    @Test
    void virtualFunctionsAreMadeByTheSriovNetworkOperatorWhereItIs() {
        install("sriovnetworknodepolicies");
        run();
        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, mtu: 9000");

        agentReports("e810", "8086");

        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .containsEntry("numVfs", 4)
                .containsEntry("mtu", 9000)
                .containsEntry("resourceName", "sidewarp_e810")
                .containsEntry("nicSelector", Map.of("vendor", "8086", "deviceID", "1592")));
        eventually(() -> assertThat(status("e810").resourceName()).isEqualTo("openshift.io/sidewarp_e810"));
        assertThat(status("e810").provisionedBy()).isEqualTo(ProvisionedBy.SRIOV_NETWORK_OPERATOR);
    }

    @Test
    void whatIsInstalledLaterIsUsedFromThenOn() {
        run();
        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, network: {vlan: 7}");
        agentReports("e810", "8086");
        eventually(() -> assertThat(provisionedBy("e810")).isEqualTo(ProvisionedBy.NODE_AGENT));
        eventually(() -> assertThat(reason("e810")).isEqualTo("MultusMissing"));

        install("sriovnetworknodepolicies");
        install("network-attachment-definitions");

        eventually(() -> assertThat(provisionedBy("e810")).isEqualTo(ProvisionedBy.SRIOV_NETWORK_OPERATOR));
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .containsEntry("numVfs", 4));
        eventually(() -> assertThat(spec(Upstream.NETWORK, "e810").get("config"))
                .isEqualTo("{\"cniVersion\":\"0.3.1\",\"name\":\"e810\",\"type\":\"sriov\",\"vlan\":7}"));
        eventually(
                () -> assertThat(object(Upstream.NETWORK, "e810").getMetadata().getAnnotations())
                        .containsEntry(NetworkAttachment.RESOURCE_NAME, "openshift.io/sidewarp_e810"));
        eventually(() -> assertThat(status("e810").network()).isEqualTo(networkNamespace + "/e810"));
    }

    @Test
    void aNetworkWithoutTheSriovNetworkOperatorIsOfTheNodeAgentsDevices() {
        install("network-attachment-definitions");
        run();

        create("t6", "nicSelector: {vendors: ['1425']}, virtualFunctions: 4, network: {ipam: '{\"type\": \"dhcp\"}'}");

        eventually(() -> assertThat(object(Upstream.NETWORK, "t6").getMetadata().getAnnotations())
                .containsEntry(NetworkAttachment.RESOURCE_NAME, SidewarpApi.RNIC_RESOURCE));
    }

    @Test
    void changesAndRemovalReachWhatWasWritten() {
        install("sriovnetworknodepolicies");
        install("network-attachment-definitions");
        run();
        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, mtu: 9000, network: {}");
        agentReports("e810", "8086");
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .containsEntry("mtu", 9000));
        eventually(() -> assertThat(object(Upstream.NETWORK, "e810")).isNotNull());

        edit("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 2, nodeSelector: {rack: a}");

        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .containsEntry("numVfs", 2)
                .containsEntry("nodeSelector", Map.of("rack", "a"))
                .doesNotContainKey("mtu"));
        eventually(() -> assertThat(find(Upstream.NETWORK, "e810")).isNull());

        client.resources(IwarpNicPolicy.class).withName("e810").delete();

        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .isNull());
    }

    /** Both would offer the virtual functions. */
    @Test
    void whatWasWrittenGoesWhenTheSriovNetworkOperatorIsNotToBeUsedAnyMore() {
        install("sriovnetworknodepolicies");
        run();
        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4");
        agentReports("e810", "8086");
        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .isNotNull());
        operator.stop();
        networks.close();

        make(settings(false));
        run();

        eventually(() -> assertThat(find(Upstream.SRIOV_POLICY, "sidewarp-e810-8086-1592"))
                .isNull());
        eventually(() -> assertThat(provisionedBy("e810")).isEqualTo(ProvisionedBy.NODE_AGENT));
        eventually(() -> assertThat(status("e810").provisionedBy()).isEqualTo(ProvisionedBy.NODE_AGENT));
    }

    @Test
    void anOperatorThatIsAskedForAndNotToBeUsedIsToldAndNotReplaced() {
        install("sriovnetworknodepolicies");
        make(settings(false));
        run();

        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, provisioner: SriovNetworkOperator");

        eventually(() -> assertThat(reason("e810")).isEqualTo("SriovNetworkOperatorMissing"));
        eventually(() -> assertThat(provisionedBy("e810")).isEqualTo(ProvisionedBy.SRIOV_NETWORK_OPERATOR));
    }

    @Test
    void whatSomebodyDeletesOrChangesIsWrittenAgain() {
        install("sriovnetworknodepolicies");
        run();
        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4");
        agentReports("e810", "8086");
        String name = "sidewarp-e810-8086-1592";
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, name)).containsEntry("numVfs", 4));

        networks.resources(Upstream.SRIOV_POLICY)
                .inNamespace(sriovNamespace)
                .withName(name)
                .delete();
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, name)).containsEntry("numVfs", 4));

        networks.resources(Upstream.SRIOV_POLICY)
                .inNamespace(sriovNamespace)
                .withName(name)
                .edit(object -> {
                    Map<String, Object> spec = object.get("spec");
                    spec.put("numVfs", 9);
                    return object;
                });
        eventually(() -> assertThat(spec(Upstream.SRIOV_POLICY, name)).containsEntry("numVfs", 4));
    }

    @Test
    void aRefusalIsToldInTheStatusAndByAnEvent() {
        install("sriovnetworknodepolicies");
        run();
        create("qlogic", "nicSelector: {vendors: ['1077']}, virtualFunctions: 4");

        agentReports("qlogic", "1077");

        eventually(() -> assertThat(reason("qlogic")).isEqualTo("SriovNetworkOperatorRefused"));
        assertThat(condition("qlogic").type()).isEqualTo(StatusCondition.DEGRADED);
        assertThat(condition("qlogic").message())
                .startsWith("SriovNetworkNodePolicy " + sriovNamespace + "/sidewarp-qlogic-1077-1592")
                .contains("spec.nicSelector.vendor: Unsupported value: \"1077\"");
        eventually(() -> assertThat(
                        client.v1().events().inNamespace("default").list().getItems())
                .anySatisfy(event -> {
                    assertThat(event.getInvolvedObject().getName()).isEqualTo("qlogic");
                    assertThat(event.getReason()).isEqualTo("SriovNetworkOperatorRefused");
                    assertThat(event.getType()).isEqualTo("Warning");
                }));
    }

    @Test
    void aNetworkOfSomebodyElseIsLeftAlone() {
        install("network-attachment-definitions");
        run();
        client.resource(Yaml.parse(
                        "{apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: taken, namespace: "
                                + networkNamespace + "}, spec: {config: theirs}}",
                        GenericKubernetesResource.class))
                .create();

        create("taken", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, network: {}");

        eventually(() -> assertThat(reason("taken")).isEqualTo("NetworkRefused"));
        assertThat(condition("taken").message()).contains("already exists");
        assertThat(spec(Upstream.NETWORK, "taken")).containsEntry("config", "theirs");
    }

    @Test
    void anOperatorThatIsAskedForAndMissingIsToldAndNotReplaced() {
        run();

        create("e810", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, provisioner: SriovNetworkOperator");

        eventually(() -> assertThat(reason("e810")).isEqualTo("SriovNetworkOperatorMissing"));
        eventually(() -> assertThat(provisionedBy("e810")).isEqualTo(ProvisionedBy.SRIOV_NETWORK_OPERATOR));
    }

    @Test
    void thePriorityIsTheRankAmongAllPolicies() {
        install("sriovnetworknodepolicies");
        run();
        create("b", "nicSelector: {vendors: ['8086']}, virtualFunctions: 4, priority: 500");
        agentReports("b", "8086");
        eventually(() ->
                assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-b-8086-1592")).containsEntry("priority", 0));

        create("a", "nicSelector: {vendors: ['1425']}, priority: 501");

        eventually(() ->
                assertThat(spec(Upstream.SRIOV_POLICY, "sidewarp-b-8086-1592")).containsEntry("priority", 1));
    }

    private static void install(String definition) {
        CustomResourceDefinitions.install(client, resource("/networks/" + definition + ".yaml"));
    }

    private static URL resource(String name) {
        return Objects.requireNonNull(NetworksTest.class.getResource(name), name);
    }

    private static IwarpNicPolicy policy(String name, String spec) {
        return Yaml.parse(
                "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: " + name + "}, spec: {"
                        + spec + "}}",
                IwarpNicPolicy.class);
    }

    private static void create(String name, String spec) {
        client.resource(policy(name, spec)).create();
    }

    private static void edit(String name, String spec) {
        client.resources(IwarpNicPolicy.class).withName(name).edit(present -> {
            present.setSpec(policy(name, spec).getSpec());
            return present;
        });
    }

    /** What the agent of the node would say that has found one NIC. */
    private static void agentReports(String policy, String vendor) {
        eventually(() -> {
            IwarpNode node = client.resources(IwarpNode.class).withName(NODE).get();
            assertThat(node.getSpec().policies()).extracting(NodePolicy::name).contains(policy);
            node.setStatus(Yaml.parse(
                            "{spec: {}, status: {observedGeneration: "
                                    + node.getMetadata().getGeneration()
                                    + ", nics: [{name: e0, pciAddress: '0000:18:00.0', vendor: '" + vendor
                                    + "', device: '1592', linkState: Up, iwarp: true, totalVirtualFunctions: 128, policy: "
                                    + policy + "}]}}",
                            IwarpNode.class)
                    .getStatus());
            client.resource(node).updateStatus();
        });
    }

    private static ProvisionedBy provisionedBy(String policy) {
        return client.resources(IwarpNode.class).withName(NODE).get().getSpec().policies().stream()
                .filter(part -> part.name().equals(policy))
                .findFirst()
                .orElseThrow()
                .provisionedBy();
    }

    private static IwarpNicPolicyStatus status(String policy) {
        return Objects.requireNonNull(
                client.resources(IwarpNicPolicy.class).withName(policy).get().getStatus());
    }

    private static StatusCondition condition(String policy) {
        return status(policy).conditions().stream()
                .filter(StatusCondition::holds)
                .findFirst()
                .orElseThrow();
    }

    private static String reason(String policy) {
        return condition(policy).reason();
    }

    private GenericKubernetesResource find(Upstream upstream, String name) {
        return networks.resources(upstream)
                .inNamespace(networks.namespace(upstream))
                .withName(name)
                .get();
    }

    private GenericKubernetesResource object(Upstream upstream, String name) {
        return Objects.requireNonNull(find(upstream, name), name);
    }

    private Map<String, Object> spec(Upstream upstream, String name) {
        return object(upstream, name).get("spec");
    }

    private static void eventually(ThrowingRunnable assertion) {
        await().atMost(LIMIT)
                .ignoreException(KubernetesClientException.class)
                .ignoreException(NullPointerException.class)
                .untilAsserted(assertion);
    }
}
