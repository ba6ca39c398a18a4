// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of a policy.
 *
 * @param observedGeneration generation of the policy that this status is of
 * @param selectedNodes nodes that the node selector selects
 * @param readyNodes those of them that have done all that the policy asks for
 * @param nics NICs that the policy rules, over all nodes
 * @param provisionedBy who makes the VFs
 * @param network NetworkAttachmentDefinition, as namespace/name; null while there is none
 * @param resourceName what pods ask for that want a VF of the policy
 * @param conditions Ready, Progressing, Degraded
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record IwarpNicPolicyStatus(
        @JsonPropertyDescription("Generation of the policy that this status describes.") @Nullable
        Long observedGeneration,

        @JsonPropertyDescription("Number of nodes that the node selector selects.") @Nullable
        Integer selectedNodes,

        @JsonPropertyDescription("Number of those nodes that have done all that the policy asks for.") @Nullable
        Integer readyNodes,

        @JsonPropertyDescription("Number of NICs that the policy rules, over all nodes.") @Nullable
        Integer nics,

        @JsonPropertyDescription("Who makes the virtual functions.") @Nullable
        ProvisionedBy provisionedBy,

        @JsonPropertyDescription("NetworkAttachmentDefinition of the policy, as namespace/name. Unset: there is none.")
        @Nullable
        String network,

        @JsonPropertyDescription("Extended resource that stands for the virtual functions of the policy.") @Nullable
        String resourceName,

        @JsonPropertyDescription(
                "Ready: all selected nodes are done. Progressing: some are at work, or have no node agent; with the reason"
                        + " Restoring the policy is deleted, and waits for the nodes that the message names. Degraded: some have"
                        + " failed; the message names one and why.")
        List<StatusCondition> conditions) {

    public IwarpNicPolicyStatus {
        conditions = conditions == null ? List.of() : List.copyOf(conditions);
    }
}
