// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.installation;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * ResourceClaims with devices of node agents that pods hold. Without the node agent, the kubelet can end no such pod:
 * the pod stays in {@code Terminating}.
 */
final class HeldClaims {
    private HeldClaims() {}

    /** Returns the claims, with the names of their pods. Empty on an API server without ResourceClaims. */
    static List<String> list(KubernetesClient client) {
        try {
            return client.resources(ResourceClaim.class).inAnyNamespace().list().getItems().stream()
                    .flatMap(claim -> held(claim).stream())
                    .sorted()
                    .toList();
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
                return List.of();
            }
            throw e;
        }
    }

    private static Optional<String> held(ResourceClaim claim) {
        return Optional.ofNullable(claim.getStatus())
                .filter(status -> !status.getReservedFor().isEmpty())
                .filter(status -> Stream.ofNullable(status.getAllocation())
                        .flatMap(allocation -> Stream.ofNullable(allocation.getDevices()))
                        .flatMap(devices -> devices.getResults().stream())
                        .anyMatch(result -> result.getDriver().equals(SidewarpApi.RNIC_DRIVER)))
                .map(status -> claim.getMetadata().getNamespace() + "/"
                        + claim.getMetadata().getName() + " of "
                        + String.join(
                                " and ",
                                status.getReservedFor().stream()
                                        .map(consumer -> consumer.getName())
                                        .toList()));
    }
}
