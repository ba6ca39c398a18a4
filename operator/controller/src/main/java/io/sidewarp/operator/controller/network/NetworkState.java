// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import java.util.Optional;

/**
 * State of the part of a policy that other operators carry out.
 *
 * @param provisionedBy component that creates the virtual functions
 * @param network NetworkAttachmentDefinition, as namespace/name
 * @param resourceName extended resource that represents the virtual functions
 * @param problem problem that prevents the policy from being carried out
 */
public record NetworkState(
        ProvisionedBy provisionedBy, Optional<String> network, String resourceName, Optional<Problem> problem) {

    /**
     * Problem that a person must solve.
     *
     * @param reason reason of a condition, one word
     * @param message what is wrong, and what to do
     */
    public record Problem(String reason, String message) {}
}
