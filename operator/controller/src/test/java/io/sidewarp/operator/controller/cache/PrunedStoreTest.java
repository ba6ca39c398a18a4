// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Node;
import io.sidewarp.operator.controller.Yaml;
import io.sidewarp.operator.controller.node.NodeReconciler.NodeStore;
import java.util.List;
import org.junit.jupiter.api.Test;

class PrunedStoreTest {
    private static final String NODE = """
            {apiVersion: v1, kind: Node,
             metadata: {name: n1, uid: u1, resourceVersion: '7', generation: 2, deletionTimestamp: '2030-01-01T00:00:00Z',
                        labels: {rack: a}, annotations: {large: text}, managedFields: [{manager: kubelet}]},
             spec: {podCIDR: 10.0.0.0/24, unschedulable: true, taints: [{key: a, effect: NoSchedule}]},
             status: {images: [{names: [example/app], sizeBytes: 1}],
                      conditions: [{type: DiskPressure, status: 'False'}, {type: Ready, status: 'True'}]}}
            """;

    @Test
    void identityLabelsReadinessAndTaintsOfANodeAreKept() {
        NodeStore store = new NodeStore();
        Node node = Yaml.parse(NODE, Node.class);

        store.put(store.getKey(node), node);

        assertThat(store.get("n1")).isEqualTo(Yaml.parse("""
                                {apiVersion: v1, kind: Node,
                                 metadata: {name: n1, uid: u1, resourceVersion: '7', generation: 2,
                                            deletionTimestamp: '2030-01-01T00:00:00Z', labels: {rack: a}},
                                 spec: {unschedulable: true, taints: [{key: a, effect: NoSchedule}]},
                                 status: {conditions: [{type: Ready, status: 'True'}]}}
                                """, Node.class));
    }

    @Test
    void whoHearsOfANodeFindsAllOfIt() {
        NodeStore store = new NodeStore();
        Node node = Yaml.parse(NODE, Node.class);

        store.put(store.getKey(node), node);

        assertThat(node).isEqualTo(Yaml.parse(NODE, Node.class));
    }

    @Test
    void theFormerObjectIsReturnedAsItWasKept() {
        NodeStore store = new NodeStore();
        Node node = Yaml.parse(NODE, Node.class);

        assertThat(store.put("n1", node)).isNull();
        assertThat(store.put("n1", node))
                .isNotNull()
                .extracting(former -> former.getStatus().getImages())
                .isEqualTo(List.of());
        assertThat(store.remove("n1")).isNotNull();
        assertThat(store.size()).isZero();
    }

    @Test
    void keysAreThoseOfTheClientsOwnStores() {
        PrunedStore<ConfigMap> store = PrunedStore.withoutManagedFields();
        ConfigMap map = Yaml.parse("""
                {apiVersion: v1, kind: ConfigMap, metadata: {name: m, namespace: s, managedFields: [{manager: kubectl}]},
                 data: {a: b}}
                """, ConfigMap.class);

        store.put(store.getKey(map), map);

        assertThat(store.keySet()).containsExactly("s/m");
        assertThat(store.values()).singleElement().satisfies(kept -> {
            assertThat(kept.getMetadata().getManagedFields()).isEmpty();
            assertThat(kept.getData()).containsEntry("a", "b");
        });
    }
}
