// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.network;

import io.sidewarp.operator.api.v1alpha1.ProvisionedBy;
import java.util.Optional;

/**
 * What became of the part of a policy that others carry out.
 *
 * @param provisionedBy who makes the virtual functions
 * @param network NetworkAttachmentDefinition, as namespace/name
 * @param resourceName extended resource that stands for the virtual functions
 * @param problem what is in the way
 */
public record NetworkState(
        ProvisionedBy provisionedBy, Optional<String> network, String resourceName, Optional<Problem> problem) {

    /**
     * Something that somebody has to see to.
     *
     * @param reason of a condition, one word
     * @param message what is wrong, and what to do
     */
    public record Problem(String reason, String message) {}
}
