// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.cache;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Keeps only the identity of nodes, and the members that show which features their kubelets have. */
final class Kubelets extends PrunedStore<Node> {
    /** Label of virtual nodes. The kubelet version of a virtual node does not show which features it has. */
    private static final String TYPE_LABEL = "type";

    private static final String VIRTUAL = "virtual-kubelet";

    Kubelets() {
        super(Kubelets::prune);
    }

    /** Returns whether no kubelet is known to lack a feature. Nodes that run no sidecars do not count. */
    boolean have(KubernetesFeature feature) {
        return values().allMatch(node -> has(node, feature));
    }

    private static boolean has(Node node, KubernetesFeature feature) {
        NodeSystemInfo info = info(node);
        return !"linux".equals(info.getOperatingSystem())
                || isVirtual(node)
                || feature.isInKubelet(info.getKubeletVersion());
    }

    private static boolean isVirtual(Node node) {
        return Optional.ofNullable(node.getMetadata())
                .map(ObjectMeta::getLabels)
                .map(labels -> VIRTUAL.equals(labels.get(TYPE_LABEL)))
                .orElse(false);
    }

    private static NodeSystemInfo info(Node node) {
        return Optional.ofNullable(node.getStatus())
                .map(NodeStatus::getNodeInfo)
                .orElseGet(NodeSystemInfo::new);
    }

    /** Returns whether an update of a node can change which features its kubelet has. */
    static boolean isNews(Node former, Node updated) {
        return isVirtual(former) != isVirtual(updated) || !version(former).equals(version(updated));
    }

    private static String version(Node node) {
        return orEmpty(info(node).getOperatingSystem()) + " "
                + orEmpty(info(node).getKubeletVersion());
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }

    private static Node prune(Node node) {
        NodeSystemInfo info = info(node);
        return new NodeBuilder()
                .withNewMetadata()
                .withName(node.getMetadata().getName())
                .withUid(node.getMetadata().getUid())
                .withResourceVersion(node.getMetadata().getResourceVersion())
                .addToLabels(isVirtual(node) ? Map.of(TYPE_LABEL, VIRTUAL) : null)
                .endMetadata()
                .withNewStatus()
                .withNewNodeInfo()
                .withKubeletVersion(info.getKubeletVersion())
                .withOperatingSystem(info.getOperatingSystem())
                .endNodeInfo()
                .endStatus()
                .build();
    }
}
