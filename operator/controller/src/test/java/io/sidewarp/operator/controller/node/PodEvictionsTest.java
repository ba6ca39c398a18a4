// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.sidewarp.operator.api.events.EventRecorder;
import io.sidewarp.operator.api.v1alpha1.IwarpNode;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests which of the pods that node agents name are evicted. */
@RealApiServer
class PodEvictionsTest {
    private final KubernetesClient client;
    private final String namespace;
    private final PodEvictions evictions;

    PodEvictionsTest(KubernetesClient client, TestNamespaces namespaces) {
        this.client = client;
        namespace = namespaces.create();
        evictions = new PodEvictions(client, new EventRecorder(client, "test"));
    }

    @AfterEach
    void delete() {
        client.pods().inNamespace(namespace).withGracePeriod(0).delete();
    }

    @Test
    void podOfTheNodeIsEvictedAndAnEventTellsWhy() {
        createPod("cart", "node-a");

        assertThat(evictions.carryOut(node("node-a", true, "cart"))).isTrue();

        assertThat(isEvicted("cart")).isTrue();
        assertThat(events("cart")).singleElement().satisfies(event -> {
            assertThat(event.getReason()).isEqualTo("NicDrain");
            assertThat(event.getMessage()).contains("0000:3b:00.0", "node-a");
        });
    }

    @Test
    void podOfAnotherNodeStaysAndOneEventNamesTheAgentsNode() {
        createPod("cart", "node-b");

        evictions.carryOut(node("node-a", true, "cart"));
        evictions.carryOut(node("node-a", true, "cart"));

        assertThat(isEvicted("cart")).isFalse();
        assertThat(client.v1().events().inNamespace("default").list().getItems())
                .filteredOn(event -> event.getReason().equals("EvictionRefused")
                        && event.getMessage().contains(namespace))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.getInvolvedObject().getName()).isEqualTo("node-a");
                    assertThat(event.getMessage()).contains("/cart", "runs on node-b");
                });
    }

    @Test
    void podStaysIfNoPolicyOfTheNodeDrains() {
        createPod("cart", "node-a");

        assertThat(evictions.carryOut(node("node-a", false, "cart"))).isFalse();

        assertThat(isEvicted("cart")).isFalse();
    }

    @Test
    void podWaitsForItsDisruptionBudgetWithOneEvent() {
        createPod("cart", "node-a");
        GenericKubernetesResource budget = client.resource(Yaml.parse(
                        """
                        apiVersion: policy/%s
                        kind: PodDisruptionBudget
                        metadata: {name: none, namespace: %s}
                        spec: {maxUnavailable: 0, selector: {matchLabels: {app: cart}}}
                        """.formatted(client.supports(PodDisruptionBudget.class) ? "v1" : "v1beta1", namespace),
                        GenericKubernetesResource.class))
                .create();

        assertThat(evictions.carryOut(node("node-a", true, "cart"))).isTrue();
        assertThat(evictions.carryOut(node("node-a", true, "cart"))).isTrue();

        assertThat(isEvicted("cart")).isFalse();
        assertThat(events("cart")).extracting(Event::getReason).containsExactly("NicDrainWaits");

        client.resource(budget).delete();
        evictions.carryOut(node("node-a", true, "cart"));

        assertThat(isEvicted("cart")).isTrue();
    }

    @Test
    void laterPodOfTheSameNameStays() {
        createPod("cart", "node-a");
        IwarpNode named = node("node-a", true, "cart");
        client.pods().inNamespace(namespace).withName("cart").withGracePeriod(0).delete();
        createPod("cart", "node-a");

        evictions.carryOut(named);

        assertThat(isEvicted("cart")).isFalse();
    }

    @Test
    void podThatIsGoneOrEndsIsNotEvictedAgain() {
        createPod("cart", "node-a");
        evictions.carryOut(node("node-a", true, "cart", "gone"));

        assertThat(evictions.carryOut(node("node-a", true, "cart", "gone"))).isTrue();

        assertThat(events("cart")).hasSize(1);
    }

    private void createPod(String name, String node) {
        client.resource(Yaml.parse("""
                apiVersion: v1
                kind: Pod
                metadata: {name: %1$s, namespace: %2$s, labels: {app: %1$s}}
                spec: {nodeName: %3$s, containers: [{name: app, image: example/app}]}
                """.formatted(name, namespace, node), Pod.class))
                .create();
        // A budget does not protect a pod that has not started.
        client.pods().inNamespace(namespace).withName(name).editStatus(pod -> {
            pod.getStatus().setPhase("Running");
            pod.getStatus()
                    .setConditions(Yaml.parse("{status: {conditions: [{type: Ready, status: 'True'}]}}", Pod.class)
                            .getStatus()
                            .getConditions());
            return pod;
        });
    }

    private boolean isEvicted(String name) {
        Pod pod = client.pods().inNamespace(namespace).withName(name).get();
        return pod == null || pod.isMarkedForDeletion();
    }

    private List<Event> events(String pod) {
        return client.v1().events().inNamespace(namespace).list().getItems().stream()
                .filter(event -> event.getInvolvedObject().getName().equals(pod))
                .toList();
    }

    private IwarpNode node(String name, boolean drains, String... pods) {
        StringBuilder evicted = new StringBuilder();
        for (String pod : pods) {
            Pod present = client.pods().inNamespace(namespace).withName(pod).get();
            String uid = present == null ? "none" : present.getMetadata().getUid();
            evicted.append("{namespace: %s, name: %s, uid: %s, nic: '0000:3b:00.0'},".formatted(namespace, pod, uid));
        }
        return Yaml.parse("""
                apiVersion: sidewarp.io/v1alpha1
                kind: IwarpNode
                metadata: {name: %s}
                spec: {policies: [{name: p, nicSelector: {vendors: ['1425']}, drain: {enabled: %s}}]}
                status: {evictions: [%s]}
                """.formatted(name, drains, evicted), IwarpNode.class);
    }
}
