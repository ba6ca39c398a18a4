// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Makes ResourceClaims with an allocation, as a scheduler does. */
public final class TestClaims {

    /** An allocated device: {@code {request: rnic, driver: rnic.sidewarp.io, pool: NODE, device: DEVICE}}. */
    public static String result(String request, String node, String device) {
        return "{request: " + request + ", driver: rnic.sidewarp.io, pool: " + node + ", device: " + device + "}";
    }

    private TestClaims() {}

    /** Creates a claim whose requests are those of its results, and allocates it. */
    public static ResourceClaim allocated(KubernetesClient client, String namespace, String name, String... results) {
        ResourceClaim claim = Serialization.unmarshal(
                """
                ---
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                metadata: {namespace: %s, name: %s}
                spec: {devices: {requests: [%s]}}
                status: {allocation: {devices: {results: [%s]}}}
                """.formatted(
                                namespace,
                                name,
                                Arrays.stream(results)
                                        .map(TestClaims::requestOf)
                                        .distinct()
                                        .collect(Collectors.joining(", ")),
                                String.join(", ", results)),
                ResourceClaim.class);
        ResourceClaim created = client.resource(claim).create();
        created.setStatus(claim.getStatus());
        return client.resource(created).updateStatus();
    }

    private static String requestOf(String result) {
        String[] names = result.replaceFirst(".*request: ([^,]*),.*", "$1").split("/", 2);
        String admin = result.contains("adminAccess: true") ? ", adminAccess: true" : "";
        return names.length == 1
                ? "{name: " + names[0] + ", exactly: {deviceClassName: rnic.sidewarp.io" + admin + "}}"
                : "{name: " + names[0] + ", firstAvailable: [{name: " + names[1]
                        + ", deviceClassName: rnic.sidewarp.io}]}";
    }
}
