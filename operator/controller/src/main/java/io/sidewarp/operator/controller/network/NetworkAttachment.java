// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sidewarp.operator.api.v1alpha1.NetworkSpec;

/** Content of a NetworkAttachmentDefinition. Depends on nothing but its arguments. */
final class NetworkAttachment {
    /** Annotation by which Multus finds the devices for the plugin. */
    static final String RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CNI_VERSION = "0.3.1";

    private NetworkAttachment() {}

    /**
     * Returns the configuration of the CNI plugin sriov. The plugin gives a pod the virtual function that the kubelet
     * chose for it.
     *
     * @throws IllegalArgumentException if {@code ipam} is no JSON object, with the reason
     */
    static String configuration(String name, NetworkSpec network) {
        ObjectNode configuration = JSON.createObjectNode()
                .put("cniVersion", CNI_VERSION)
                .put("name", name)
                .put("type", "sriov");
        if (network.vlan() != null) {
            configuration.put("vlan", network.vlan());
        }
        if (network.ipam() != null) {
            configuration.set("ipam", object(network.ipam()));
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
