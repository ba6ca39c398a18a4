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
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Keeps only the identity of nodes, and the members that show which features their kubelets and runtimes have. */
final class Kubelets extends PrunedStore<Node> {
    /**
     * Labels of nodes that are no machines, as in the default {@code nodeAgent.affinity} of the chart. An empty value
     * stands for any. The versions of such a node do not show which features it has.
     */
    private static final Map<String, String> VIRTUAL = Map.of(
            "eks.amazonaws.com/compute-type", "fargate",
            "type", "virtual-kubelet",
            "node-role.kubernetes.io/virtual-node", "",
            "liqo.io/type", "virtual-node");

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
                || (feature.isInKubelet(info.getKubeletVersion())
                        && feature.isInRuntime(info.getContainerRuntimeVersion()));
    }

    private static boolean isVirtual(Node node) {
        return !virtualLabels(node).isEmpty();
    }

    private static Map<String, String> virtualLabels(Node node) {
        return Optional.ofNullable(node.getMetadata()).map(ObjectMeta::getLabels).orElseGet(Map::of).entrySet().stream()
                .filter(label -> {
                    String value = VIRTUAL.get(label.getKey());
                    return value != null && (value.isEmpty() || value.equals(label.getValue()));
                })
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
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
                + orEmpty(info(node).getKubeletVersion()) + " "
                + orEmpty(info(node).getContainerRuntimeVersion());
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
                .addToLabels(virtualLabels(node))
                .endMetadata()
                .withNewStatus()
                .withNewNodeInfo()
                .withKubeletVersion(info.getKubeletVersion())
                .withOperatingSystem(info.getOperatingSystem())
                .withContainerRuntimeVersion(info.getContainerRuntimeVersion())
                .endNodeInfo()
                .endStatus()
                .build();
    }
}
