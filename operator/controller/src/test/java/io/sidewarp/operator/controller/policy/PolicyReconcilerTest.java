// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeStatusBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.Operator;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicyStatus;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.api.v1alpha1.StatusCondition;
import io.sidewarp.operator.controller.TestSettings;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.cache.ClusterFeatures;
import io.sidewarp.operator.controller.cache.NodeStates;
import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.installation.AgentPods;
import io.sidewarp.operator.controller.installation.Uninstallation;
import io.sidewarp.operator.controller.network.InstalledNetworks;
import io.sidewarp.operator.controller.network.NetworkObjects;
import io.sidewarp.operator.controller.node.NodeReconciler;
import io.sidewarp.operator.testing.CustomResourceDefinitions;
import io.sidewarp.operator.testing.RealApiServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the status of a policy while nodes come and go. */
@RealApiServer
class PolicyReconcilerTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String NODE = "policy-test";
    private static final List<Class<? extends CustomResource<?, ?>>> OWN =
            List.of(IwarpNicPolicy.class, IwarpNode.class);

    private final KubernetesClient client;
    private Operator operator;
    private InstalledNetworks networks;

    PolicyReconcilerTest(KubernetesClient client) {
        this.client = client;
        make();
    }

    /** A controller that is not started yet. */
    private void make() {
        OperatorConfig config = TestSettings.of(Map.of());
        networks = new InstalledNetworks(client, config);
        operator =
                new Operator(overrides -> overrides.withKubernetesClient(client).withCloseClientOnStop(false));
        NodeStates labels = new NodeStates();
        operator.register(new NodeReconciler(
                config,
                networks,
                labels,
                new Uninstallation(client, config),
                new ClusterFeatures(client),
                new AgentPods(client, config),
                new EventRecorder(client, "test")));
        operator.register(new PolicyReconciler(
                config, new EventRecorder(client, "test"), networks, new NetworkObjects(networks, config), labels));
    }

    @BeforeEach
    void start() {
        for (Class<? extends CustomResource<?, ?>> type : OWN) {
            CustomResourceDefinitions.install(
                    client,
                    Objects.requireNonNull(PolicyReconcilerTest.class.getResource(
                            "/META-INF/fabric8/" + HasMetadata.getFullResourceName(type) + "-v1.yml")));
        }
        client.resource(Yaml.parse(
                        "{apiVersion: v1, kind: Node, metadata: {name: " + NODE + ", labels: {rack: a}}}", Node.class))
                .create();
        operator.start();
    }

    @AfterEach
    void stop() {
        client.resources(IwarpNicPolicy.class).delete();
        client.nodes().withName(NODE).delete();
        client.resources(IwarpNode.class).withName(NODE).delete();
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(
                                client.resources(IwarpNicPolicy.class).list().getItems())
                        .isEmpty());
        operator.stop();
        networks.close();
    }

    @Test
    void aNodeThatIsSelectedNoLongerIsCountedNoLonger() {
        client.resource(Yaml.parse(
                        "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: p}, spec:"
                                + " {nodeSelector: {rack: a}, nicSelector: {vendors: ['8086']}}}",
                        IwarpNicPolicy.class))
                .create();
        eventually(status -> assertThat(status.selectedNodes()).isEqualTo(1));

        client.nodes().withName(NODE).edit(node -> {
            node.getMetadata().getLabels().remove("rack");
            return node;
        });

        eventually(status -> {
            assertThat(status.selectedNodes()).isZero();
            assertThat(status.conditions())
                    .filteredOn(StatusCondition::holds)
                    .extracting(StatusCondition::reason)
                    .containsExactly("NoNodes");
        });
    }

    @Test
    void aNodeThatRunsNoLinuxIsNotCounted() {
        client.nodes().withName(NODE).edit(node -> {
            node.getMetadata().getLabels().put("kubernetes.io/os", "windows");
            return node;
        });
        client.resource(Yaml.parse(
                        "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: p}, spec:"
                                + " {nicSelector: {vendors: ['8086']}}}",
                        IwarpNicPolicy.class))
                .create();

        eventually(status -> {
            assertThat(status.selectedNodes()).isZero();
            assertThat(status.conditions())
                    .filteredOn(StatusCondition::holds)
                    .extracting(StatusCondition::reason)
                    .containsExactly("NoNodes");
        });
    }

    /** The controller does not learn of the nodes by one of them. */
    @Test
    void withoutAnyNodeNoneIsAboutToBeTold() {
        operator.stop();
        networks.close();
        client.nodes().delete();
        make();
        operator.start();

        client.resource(Yaml.parse(
                        "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: p}, spec:"
                                + " {nicSelector: {vendors: ['8086']}}}",
                        IwarpNicPolicy.class))
                .create();

        eventually(status -> assertThat(status.conditions())
                .filteredOn(StatusCondition::holds)
                .extracting(StatusCondition::reason)
                .containsExactly("NoNodes"));
    }

    /** The kubelet is lost: the report of the agent stays, and says that the node is ready. */
    @Test
    void nodeThatIsNotReadyIsNotReadyForThePolicyUntilItIsAgain() {
        client.resource(Yaml.parse(
                        "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: p}, spec:"
                                + " {nicSelector: {vendors: ['8086']}}}",
                        IwarpNicPolicy.class))
                .create();
        eventually(status -> assertThat(status.selectedNodes()).isEqualTo(1));
        report();
        eventually(status -> assertThat(reason(status)).isEqualTo("AllNodesReady"));

        setReady("Unknown", "Kubelet stopped posting node status.");

        eventually(status -> {
            assertThat(reason(status)).isEqualTo("NodeNotReady");
            assertThat(status.conditions())
                    .filteredOn(StatusCondition::holds)
                    .singleElement()
                    .satisfies(condition ->
                            assertThat(condition.message()).contains(NODE, "Kubelet stopped posting node status."));
            assertThat(status.readyNodes()).isZero();
        });
        IwarpNode node = client.resources(IwarpNode.class).withName(NODE).get();
        assertThat(node.agentReporting().orElseThrow().reason()).isEqualTo("NodeNotReady");
        // The agent's report stays.
        assertThat(node.getStatus().nics()).hasSize(1);
        assertThat(node.getStatus().conditions())
                .extracting(StatusCondition::type)
                .contains("Ready", "AgentReporting");

        setReady("True", "kubelet is posting ready status");
        eventually(status -> assertThat(reason(status)).isEqualTo("AllNodesReady"));
        assertThat(client.resources(IwarpNode.class)
                        .withName(NODE)
                        .get()
                        .agentReporting()
                        .orElseThrow()
                        .holds())
                .isTrue();
    }

    /** As a node agent does. */
    private void report() {
        IwarpNode node = client.resources(IwarpNode.class).withName(NODE).get();
        client.resources(IwarpNode.class)
                .withName(NODE)
                .subresource("status")
                .patch(
                        new PatchContext.Builder()
                                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                                .withFieldManager("sidewarp-node-agent")
                                .withForce(true)
                                .build(),
                        """
                        {"apiVersion": "sidewarp.io/v1alpha1", "kind": "IwarpNode", "metadata": {"name": "%s"},
                         "status": {"observedGeneration": %d, "nodeState": "Done",
                          "nics": [{"name": "e0", "pciAddress": "0000:3b:00.0", "vendor": "8086", "device": "1592",
                                    "iwarp": true, "linkState": "Up", "totalVirtualFunctions": 0, "policy": "p", "state": "Done"}],
                          "conditions": [{"type": "Ready", "status": "True", "reason": "R", "message": "m",
                                          "lastTransitionTime": "2030-01-01T00:00:00Z"}]}}
                        """.formatted(NODE, node.getMetadata().getGeneration()));
    }

    private void setReady(String ready, String message) {
        client.nodes().withName(NODE).editStatus(node -> {
            node.setStatus(new NodeStatusBuilder()
                    .addNewCondition()
                    .withType("Ready")
                    .withStatus(ready)
                    .withMessage(message)
                    .endCondition()
                    .build());
            return node;
        });
    }

    private static String reason(IwarpNicPolicyStatus status) {
        return status.conditions().stream()
                .filter(StatusCondition::holds)
                .map(StatusCondition::reason)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aDeletedPolicyTellsWhichNodeItWaitsFor() {
        client.resource(Yaml.parse(
                        "{apiVersion: sidewarp.io/v1alpha1, kind: IwarpNicPolicy, metadata: {name: p}, spec:"
                                + " {nicSelector: {vendors: ['8086']}}}",
                        IwarpNicPolicy.class))
                .create();
        eventually(status -> assertThat(status.selectedNodes()).isEqualTo(1));
        // Its agent says no more after this.
        client.resources(IwarpNode.class).withName(NODE).editStatus(node -> {
            node.setStatus(Yaml.parse("{status: {observedGeneration: 1}}", IwarpNode.class)
                    .getStatus());
            return node;
        });

        String uid = client.resources(IwarpNicPolicy.class)
                .withName("p")
                .get()
                .getMetadata()
                .getUid();
        client.resources(IwarpNicPolicy.class).withName("p").delete();

        eventually(status -> {
            assertThat(status.conditions())
                    .filteredOn(StatusCondition::holds)
                    .singleElement()
                    .satisfies(condition -> {
                        assertThat(condition.reason()).isEqualTo("Restoring");
                        assertThat(condition.message()).contains("1 node", NODE);
                    });
            assertThat(status.observedGeneration())
                    .isEqualTo(client.resources(IwarpNicPolicy.class)
                            .withName("p")
                            .get()
                            .getMetadata()
                            .getGeneration());
        });
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(client.v1()
                                .events()
                                .inNamespace("default")
                                .list()
                                .getItems())
                        .filteredOn(
                                event -> uid.equals(event.getInvolvedObject().getUid()))
                        .extracting(Event::getReason)
                        .contains("Restoring"));
    }

    private void eventually(Consumer<IwarpNicPolicyStatus> assertion) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(client.resources(IwarpNicPolicy.class)
                                .withName("p")
                                .get()
                                .getStatus())
                        .isNotNull()
                        .satisfies(assertion));
    }
}
