// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.NodePolicy;
import io.sidewarp.operator.controller.ClaimObjects;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.cache.NodeStates;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.installation.AgentPods;
import io.sidewarp.operator.controller.installation.Uninstallation;
import io.sidewarp.operator.controller.network.InstalledNetworks;
import io.sidewarp.operator.testing.CustomResourceDefinitions;
import io.sidewarp.operator.testing.DraDefinitions;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.assertj.core.api.ThrowingConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests which nodes receive a policy. */
@RealApiServer
class NodeReconcilerTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final List<Class<? extends CustomResource<?, ?>>> OWN =
            List.of(IwarpNicPolicy.class, IwarpNode.class);

    private final KubernetesClient client;
    private final Operator operator;
    private final InstalledNetworks networks;
    private final ClusterFeatures features;

    NodeReconcilerTest(KubernetesClient client) {
        this.client = client;
        OperatorConfig config = TestSettings.of(Map.of("sidewarp.operator.namespace", "sidewarp-system"));
        networks = new InstalledNetworks(client, config);
        features = new ClusterFeatures(client);
        operator =
                new Operator(overrides -> overrides.withKubernetesClient(client).withCloseClientOnStop(false));
        operator.register(new NodeReconciler(
                config,
                networks,
                new NodeStates(),
                new Uninstallation(client, config),
                features,
                new AgentPods(client, config),
                new EventRecorder(client, "test")));
    }

    @BeforeEach
    void start() throws InterruptedException {
        DraDefinitions.install(client, true);
        ClaimObjects.createDeviceClass(client);
        for (Class<? extends CustomResource<?, ?>> type : OWN) {
            CustomResourceDefinitions.install(
                    client,
                    Objects.requireNonNull(NodeReconcilerTest.class.getResource(
                            "/META-INF/fabric8/" + HasMetadata.getFullResourceName(type) + "-v1.yml")));
        }
        for (String rack : List.of("a", "b")) {
            client.resource(Yaml.parse(
                            "{apiVersion: v1, kind: Node, metadata: {name: node-" + rack + ", labels: {rack: " + rack
                                    + "}}}",
                            Node.class))
                    .create();
        }
        features.start();
        features.await();
        operator.start();
        features.tell();
    }

    @AfterEach
    void stop() {
        operator.stop();
        features.close();
        client.resources(DeviceClass.class).withName("rnic.sidewarp.io").delete();
        networks.close();
        client.resources(IwarpNicPolicy.class).delete();
        client.resources(IwarpNode.class).delete();
        client.nodes().delete();
    }

    @Test
    void aNodeThatIsSelectedNoLongerHearsOfThatToo() {
        client.resource(policy("a")).create();
        eventually("node-a", policies -> assertThat(policies).containsExactly("p"));
        eventually("node-b", policies -> assertThat(policies).isEmpty());

        client.resource(policy("b")).update();

        eventually("node-a", policies -> assertThat(policies).isEmpty());
        eventually("node-b", policies -> assertThat(policies).containsExactly("p"));
    }

    @Test
    void aNodeHearsOfTheEndOfAPolicy() {
        client.resource(policy("a")).create();
        eventually("node-a", policies -> assertThat(policies).containsExactly("p"));

        client.resource(policy("a")).delete();

        eventually("node-a", policies -> assertThat(policies).isEmpty());
    }

    @Test
    void aNodeThatGetsOrLosesALabelHearsOfItsPolicies() {
        client.resource(policy("a")).create();
        eventually("node-a", policies -> assertThat(policies).containsExactly("p"));

        label("node-a", "b");
        label("node-b", "a");

        eventually("node-a", policies -> assertThat(policies).isEmpty());
        eventually("node-b", policies -> assertThat(policies).containsExactly("p"));
    }

    @Test
    void nodesOfferClaimsWhileAllKubeletsHaveThem() {
        awaitClaims("node-a", true);

        ClaimObjects.createNode(client, "old", "v1.33.5");
        awaitClaims("node-a", null);
        awaitClaims("old", null);

        client.nodes().withName("old").delete();
        awaitClaims("node-a", true);
        awaitClaims("node-b", true);
    }

    private void awaitClaims(String node, @Nullable Boolean offered) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(
                                client.resources(IwarpNode.class).withName(node).get())
                        .isNotNull()
                        .satisfies(found ->
                                assertThat(found.getSpec().resourceClaims()).isEqualTo(offered)));
    }

    @Test
    void podThatAnAgentNamesIsEvicted(TestNamespaces namespaces) {
        String namespace = namespaces.create();
        Pod cart = client.resource(Yaml.parse(
                        "{apiVersion: v1, kind: Pod, metadata: {name: cart, namespace: " + namespace
                                + "}, spec: {nodeName: node-a, containers: [{name: app, image: example/app}]}}",
                        Pod.class))
                .create();
        IwarpNicPolicy draining = policy("a");
        draining.setSpec(Yaml.parse(
                        "{spec: {nodeSelector: {rack: a}, nicSelector: {vendors: ['8086']}, drain: {enabled: true}}}",
                        IwarpNicPolicy.class)
                .getSpec());
        client.resource(draining).create();
        eventually("node-a", policies -> assertThat(policies).containsExactly("p"));

        client.resources(IwarpNode.class).withName("node-a").editStatus(node -> {
            node.setStatus(Yaml.parse(
                            "{status: {evictions: [{namespace: " + namespace + ", name: cart, uid: "
                                    + cart.getMetadata().getUid() + ", nic: '0000:3b:00.0'}]}}",
                            IwarpNode.class)
                    .getStatus());
            return node;
        });

        await().atMost(LIMIT)
                .until(() -> Optional.ofNullable(client.pods()
                                .inNamespace(namespace)
                                .withName("cart")
                                .get())
                        .map(Pod::isMarkedForDeletion)
                        .orElse(true));
    }

    private void label(String node, String rack) {
        client.nodes().withName(node).edit(present -> {
            present.getMetadata().getLabels().put("rack", rack);
            return present;
        });
    }

    private static IwarpNicPolicy policy(String rack) {
        return Yaml.parse(
                "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: p}, spec: {nodeSelector: {rack: "
                        + rack + "}, nicSelector: {vendors: ['8086']}}}",
                IwarpNicPolicy.class);
    }

    private void eventually(String node, ThrowingConsumer<List<String>> assertion) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(
                                client.resources(IwarpNode.class).withName(node).get())
                        .isNotNull()
                        .satisfies(found -> assertion.accept(found.getSpec().policies().stream()
                                .map(NodePolicy::name)
                                .toList())));
    }
}
