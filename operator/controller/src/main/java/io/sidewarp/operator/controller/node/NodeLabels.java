// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.node;

import io.fabric8.kubernetes.api.model.Node;
import io.javaoperatorsdk.operator.api.reconciler.IndexedResourceCache;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The labels of all nodes, from the cache that the reconciliation of nodes has anyway. */
@ApplicationScoped
public class NodeLabels {
    private static final String SYSTEM = "kubernetes.io/os";
    private static final String LINUX = "linux";

    private volatile @Nullable IndexedResourceCache<Node> nodes;

    /** Nodes are known from here, as soon as the controllers run. */
    void know(IndexedResourceCache<Node> all) {
        nodes = all;
    }

    /** How many Linux nodes have the labels of a selector. */
    public int selected(Map<String, String> selector) {
        return (int) Objects.requireNonNull(nodes)
                .list(node -> matches(of(node), selector))
                .count();
    }

    static Map<String, String> of(Node node) {
        return Optional.ofNullable(node.getMetadata().getLabels()).orElseGet(Map::of);
    }

    /** Whether a node has the labels of a selector, and can have an agent. One that names no system yet is taken for Linux. */
    static boolean matches(Map<String, String> labels, Map<String, String> selector) {
        return labels.entrySet().containsAll(selector.entrySet())
                && labels.getOrDefault(SYSTEM, LINUX).equals(LINUX);
    }
}
