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
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.cache.NodeStates;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.installation.AgentPods;
import io.sidewarp.operator.controller.installation.Uninstallation;
import io.sidewarp.operator.controller.node.NodeReconciler;
import io.sidewarp.operator.controller.policy.PolicyReconciler;
import io.sidewarp.operator.testing.CustomResourceDefinitions;
import io.sidewarp.operator.testing.TestNamespaces;
import java.net.URL;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** Reconcilers of nodes and policies on a real API server that gets, has and loses definitions of other projects. */
abstract class NetworksFixture {
    static final Duration LIMIT = Duration.ofSeconds(60);
    static final String NODE = "networks-test";
    private static final List<Class<? extends CustomResource<?, ?>>> OWN =
            List.of(IwarpNicPolicy.class, IwarpNode.class);

    static KubernetesClient client;
    static String sriovNamespace;
    static String networkNamespace;
    static OperatorConfig config;

    InstalledNetworks networks;
    Operator operator;
    private KubernetesClient networksClient;

    @BeforeAll
    static void prepare(KubernetesClient shared, TestNamespaces namespaces) {
        client = shared;
        sriovNamespace = namespaces.create();
        networkNamespace = namespaces.create();
        config = settings(Map.of());
        for (Class<? extends CustomResource<?, ?>> type : OWN) {
            CustomResourceDefinitions.install(
                    client, resource("/META-INF/fabric8/" + HasMetadata.getFullResourceName(type) + "-v1.yml"));
        }
    }

    /** The defaults with namespaces of the test, but for some. */
    static OperatorConfig settings(Map<String, String> others) {
        Map<String, String> settings = new HashMap<>(Map.of(
                "sidewarp.operator.sriov.namespace", sriovNamespace,
                "sidewarp.operator.multus.namespace", networkNamespace));
        settings.putAll(others);
        return TestSettings.of(settings);
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
    void make(OperatorConfig settings) {
        make(settings, client);
    }

    /** The same, with a client of its own for what others carry out, which is closed with it. */
    void make(OperatorConfig settings, KubernetesClient own) {
        networksClient = own;
        networks = new InstalledNetworks(own, settings);
        operator =
                new Operator(overrides -> overrides.withKubernetesClient(client).withCloseClientOnStop(false));
        NodeStates labels = new NodeStates();
        operator.register(new NodeReconciler(
                settings,
                networks,
                labels,
                new Uninstallation(client, settings),
                new ClusterFeatures(client),
                new AgentPods(client, settings),
                new EventRecorder(client, "test")));
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
        if (!networksClient.equals(client)) {
            networksClient.close();
        }
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

    void run() {
        networks.start();
        operator.start();
        networks.tell();
    }

    static void install(String definition) {
        CustomResourceDefinitions.install(client, resource("/networks/" + definition + ".yaml"));
    }

    private static URL resource(String name) {
        return Objects.requireNonNull(NetworksFixture.class.getResource(name), name);
    }

    static IwarpNicPolicy policy(String name, String spec) {
        return Yaml.parse(
                "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: " + name + "}, spec: {"
                        + spec + "}}",
                IwarpNicPolicy.class);
    }

    static void create(String name, String spec) {
        client.resource(policy(name, spec)).create();
    }

    static void edit(String name, String spec) {
        client.resources(IwarpNicPolicy.class).withName(name).edit(present -> {
            present.setSpec(policy(name, spec).getSpec());
            return present;
        });
    }

    /** Writes the status of a node whose agent has found one NIC. */
    static void agentReports(String policy, String vendor) {
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

    static ProvisionedBy provisionedBy(String policy) {
        return client.resources(IwarpNode.class).withName(NODE).get().getSpec().policies().stream()
                .filter(part -> part.name().equals(policy))
                .findFirst()
                .orElseThrow()
                .provisionedBy();
    }

    static IwarpNicPolicyStatus status(String policy) {
        return Objects.requireNonNull(
                client.resources(IwarpNicPolicy.class).withName(policy).get().getStatus());
    }

    static StatusCondition condition(String policy) {
        return status(policy).conditions().stream()
                .filter(StatusCondition::holds)
                .findFirst()
                .orElseThrow();
    }

    static String reason(String policy) {
        return condition(policy).reason();
    }

    GenericKubernetesResource find(Upstream upstream, String name) {
        return networks.resources(upstream)
                .inNamespace(networks.namespace(upstream))
                .withName(name)
                .get();
    }

    GenericKubernetesResource object(Upstream upstream, String name) {
        return Objects.requireNonNull(find(upstream, name), name);
    }

    Map<String, Object> spec(Upstream upstream, String name) {
        return object(upstream, name).get("spec");
    }

    static void eventually(ThrowingRunnable assertion) {
        await().atMost(LIMIT)
                .ignoreException(KubernetesClientException.class)
                .ignoreException(NullPointerException.class)
                .untilAsserted(assertion);
    }
}
