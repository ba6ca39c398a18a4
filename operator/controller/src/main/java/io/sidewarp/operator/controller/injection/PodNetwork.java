// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import io.sidewarp.operator.api.v1alpha1.IwarpNicPolicy;
import java.util.Optional;

/**
 * A network of a NIC policy, which pods get a virtual function with.
 *
 * @param namespace namespace of the NetworkAttachmentDefinition
 * @param name name of it
 * @param resourceName extended resource that the virtual functions are
 */
public record PodNetwork(String namespace, String name, String resourceName) {
    /**
     * A network of a policy's status.
     *
     * @param network namespace/name
     */
    public static PodNetwork of(String network, String resourceName) {
        int slash = network.indexOf('/');
        return new PodNetwork(network.substring(0, slash), network.substring(slash + 1), resourceName);
    }

    /** That of a policy, if it has one (yet). */
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
