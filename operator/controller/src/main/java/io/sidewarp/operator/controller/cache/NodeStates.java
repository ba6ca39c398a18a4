// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.javaoperatorsdk.operator.api.reconciler.IndexedResourceCache;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Labels, readiness and taints of all nodes, from the cache of the node reconciler. */
@ApplicationScoped
public class NodeStates {
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
                .list(node -> matches(labels(node), selector))
                .count();
    }

    /** Returns all nodes, or none before the controllers run. */
    public Stream<Node> all() {
        return Stream.ofNullable(nodes).flatMap(IndexedResourceCache::list);
    }

    public static Map<String, String> labels(Node node) {
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

    /** Returns the condition Ready of a node, which a new node may lack. */
    public static Optional<NodeCondition> readiness(Node node) {
        return Stream.ofNullable(node.getStatus())
                .flatMap(status -> status.getConditions().stream())
                .filter(condition -> condition.getType().equals("Ready"))
                .findFirst();
    }

    /** Returns why a node is not Ready, as a sentence, or nothing for a node that is Ready or has no such condition. */
    public static Optional<String> whyNotReady(Node node) {
        return readiness(node)
                .filter(condition -> !condition.getStatus().equals("True"))
                .map(condition -> "The node is not Ready: " + condition.getMessage());
    }
}
