// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import io.fabric8.kubernetes.api.model.Node;
import io.javaoperatorsdk.operator.api.reconciler.IndexedResourceCache;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Labels of all nodes, from the cache of the node reconciler. */
@ApplicationScoped
public class NodeLabels {
    private static final String SYSTEM = "kubernetes.io/os";
    private static final String LINUX = "linux";

    private volatile @Nullable IndexedResourceCache<Node> nodes;

    /** Sets the cache of nodes, which is filled as soon as the controllers run. */
    public void know(IndexedResourceCache<Node> all) {
        nodes = all;
    }

    /** Returns the number of Linux nodes that have the labels of a selector. */
    public int selected(Map<String, String> selector) {
        return (int) Objects.requireNonNull(nodes)
                .list(node -> matches(of(node), selector))
                .count();
    }

    public static Map<String, String> of(Node node) {
        return Optional.ofNullable(node.getMetadata().getLabels()).orElseGet(Map::of);
    }

    /**
     * Returns whether a node has the labels of a selector and can have an agent. A node without a label for its
     * operating system counts as Linux.
     */
    public static boolean matches(Map<String, String> labels, Map<String, String> selector) {
        return labels.entrySet().containsAll(selector.entrySet())
                && labels.getOrDefault(SYSTEM, LINUX).equals(LINUX);
    }
}
