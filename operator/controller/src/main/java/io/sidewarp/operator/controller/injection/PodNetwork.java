// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import java.util.Optional;

/**
 * Network of a NIC policy that pods get with a virtual function.
 *
 * @param namespace namespace of the NetworkAttachmentDefinition
 * @param name name of the NetworkAttachmentDefinition
 * @param resourceName extended resource of the virtual functions
 */
public record PodNetwork(String namespace, String name, String resourceName) {
    /**
     * Creates a network from a policy's status.
     *
     * @param network namespace/name
     */
    public static PodNetwork of(String network, String resourceName) {
        int slash = network.indexOf('/');
        return new PodNetwork(network.substring(0, slash), network.substring(slash + 1), resourceName);
    }

    /** Returns the network of a policy, if the policy has a network (yet). */
    public static Optional<PodNetwork> of(IwarpNicPolicy policy) {
        return Optional.ofNullable(policy.getStatus())
                .filter(status -> status.network() != null && status.resourceName() != null)
                .map(status -> of(String.valueOf(status.network()), String.valueOf(status.resourceName())));
    }

    @Override
    public String toString() {
        return namespace + "/" + name;
    }
}
