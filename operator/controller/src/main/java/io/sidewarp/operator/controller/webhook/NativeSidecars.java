// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.VersionInfo;
import io.sidewarp.operator.controller.cache.PrunedStore;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks which parts of a cluster support native sidecars. Nodes may be three minor versions older than the API server.
 * An old kubelet would wait for the end of an init container that keeps running.
 */
public final class NativeSidecars {
    private static final int SINCE = 29;

    /**
     * Label of virtual nodes. The kubelet version of a virtual node does not show whether it supports native sidecars.
     */
    private static final String TYPE_LABEL = "type";

    private static final String VIRTUAL = "virtual-kubelet";
    private static final Pattern KUBELET = Pattern.compile("v([0-9]{1,4})[.]([0-9]{1,4})([^0-9].*)?");

    private NativeSidecars() {}

    /** Returns whether an API server supports native sidecars. */
    public static boolean areIn(VersionInfo version) {
        // Providers append to the minor version: "29+".
        String minor = version.getMinor().replaceAll("[^0-9].*", "");
        return areIn(Integer.parseInt(version.getMajor()), Integer.parseInt(minor));
    }

    /**
     * Returns whether a node supports native sidecars. Also true for nodes that are not known to lack the support, and
     * for nodes that run no sidecars.
     */
    static boolean areIn(Node node) {
        NodeSystemInfo info = info(node);
        Matcher version =
                KUBELET.matcher(Optional.ofNullable(info.getKubeletVersion()).orElse(""));
        return !"linux".equals(info.getOperatingSystem())
                || isVirtual(node)
                || !version.matches()
                || areIn(Integer.parseInt(version.group(1)), Integer.parseInt(version.group(2)));
    }

    private static boolean areIn(int major, int minor) {
        return major > 1 || minor >= SINCE;
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

    /** Keeps only the identity of nodes, and the members that show whether they support native sidecars. */
    static final class Kubelets extends PrunedStore<Node> {
        Kubelets() {
            super(Kubelets::prune);
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
}
