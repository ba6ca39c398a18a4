// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.client.KubernetesClient;

/** Objects of a cluster with ResourceClaims. */
public final class ClaimObjects {
    private ClaimObjects() {}

    /** Creates the DeviceClass that the chart would install. */
    public static DeviceClass createDeviceClass(KubernetesClient client) {
        return client.resource(Yaml.parse("""
                {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: rnic.sidewarp.io},
                 spec: {selectors: [{cel: {expression: 'device.driver == "rnic.sidewarp.io"'}}],
                  extendedResourceName: sidewarp.io/rnic}}
                """, DeviceClass.class)).create();
    }

    /** Creates a Linux node with a kubelet of a version. */
    public static Node createNode(KubernetesClient client, String name, String kubelet) {
        return client.resource(Yaml.parse(
                        "{apiVersion: v1, kind: Node, metadata: {name: " + name
                                + "}, status: {nodeInfo: {kubeletVersion: "
                                + kubelet
                                + ", operatingSystem: linux, architecture: '', bootID: '', containerRuntimeVersion: '',"
                                + " kernelVersion: '', kubeProxyVersion: '', machineID: '', osImage: '', systemUUID: ''}}}",
                        Node.class))
                .create();
    }
}
