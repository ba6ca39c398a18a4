// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sidewarp.operator.api.v1alpha1.NetworkSpec;
import org.jspecify.annotations.Nullable;

/** Content of a NetworkAttachmentDefinition. Depends on nothing but its arguments. */
final class NetworkAttachment {
    /** Annotation by which Multus finds the devices for the plugin. */
    static final String RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CNI_VERSION = "0.3.1";

    private NetworkAttachment() {}

    /**
     * Returns the configuration of the CNI plugin sriov. The plugin gives a pod the virtual function that the kubelet
     * chose for it. The plugin cannot set an MTU; the plugin tuning does so behind it.
     *
     * @param mtu MTU of the pod's interface; null: the MTU stays unchanged
     * @throws IllegalArgumentException if {@code ipam} is no JSON object, with the reason
     */
    static String configuration(String name, NetworkSpec network, @Nullable Integer mtu) {
        ObjectNode configuration =
                JSON.createObjectNode().put("cniVersion", CNI_VERSION).put("name", name);
        // Multus tells the first plugin of a list which virtual function to take.
        ObjectNode sriov =
                mtu == null ? configuration : configuration.putArray("plugins").addObject();
        sriov.put("type", "sriov");
        if (network.vlan() != null) {
            sriov.put("vlan", network.vlan());
        }
        if (network.ipam() != null) {
            sriov.set("ipam", object(network.ipam()));
        }
        if (mtu != null) {
            configuration.withArray("plugins").addObject().put("type", "tuning").put("mtu", mtu);
        }
        return configuration.toString();
    }

    private static JsonNode object(String ipam) {
        try {
            JsonNode parsed = JSON.readTree(ipam);
            if (parsed.isObject()) {
                return parsed;
            }
            throw new IllegalArgumentException("it is no JSON object");
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e.getOriginalMessage(), e);
        }
    }
}
