// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/**
 * Keeps only the identity and the labels of a node, because nothing else is read. The list of images of a node alone
 * can take 10 KiB.
 */
public final class NodeStore extends PrunedStore<Node> {
    /** Creates an empty store. */
    public NodeStore() {
        super(NodeStore::prune);
    }

    private static Node prune(Node node) {
        ObjectMeta metadata = node.getMetadata();
        return new NodeBuilder()
                .withNewMetadata()
                .withName(metadata.getName())
                .withUid(metadata.getUid())
                .withResourceVersion(metadata.getResourceVersion())
                .withGeneration(metadata.getGeneration())
                .withDeletionTimestamp(metadata.getDeletionTimestamp())
                .withLabels(metadata.getLabels())
                .endMetadata()
                .build();
    }
}
