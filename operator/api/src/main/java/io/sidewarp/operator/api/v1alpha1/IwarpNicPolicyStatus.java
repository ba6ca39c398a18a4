// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Observed state of a policy. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record IwarpNicPolicyStatus(
        @JsonPropertyDescription("Generation of the policy that this status describes.") @Nullable
        Long observedGeneration,

        @JsonPropertyDescription("Number of nodes that the node selector selects.") @Nullable
        Integer selectedNodes,

        @JsonPropertyDescription("Number of selected nodes that have completed all that the policy requests.") @Nullable
        Integer readyNodes,

        @JsonPropertyDescription("Number of NICs to which the policy applies, over all nodes.") @Nullable
        Integer nics,

        @JsonPropertyDescription("Component that creates the virtual functions.") @Nullable
        ProvisionedBy provisionedBy,

        @JsonPropertyDescription("NetworkAttachmentDefinition of the policy, as namespace/name. Unset: there is none.")
        @Nullable
        String network,

        @JsonPropertyDescription("Extended resource that represents the virtual functions of the policy.") @Nullable
        String resourceName,

        @JsonPropertyDescription(
                "Ready: all selected nodes are done. Progressing: some nodes are at work, are not Ready (NodeNotReady)"
                        + " or have no node agent (NoNodeAgent), or no node has a NIC that the policy selects"
                        + " (NoNicSelected). With the reason Restoring, the policy is being deleted and waits for the"
                        + " nodes that the message names. Degraded: some nodes have failed. The message names the nodes"
                        + " and the cause.")
        List<StatusCondition> conditions) {

    public IwarpNicPolicyStatus {
        conditions = conditions == null ? List.of() : List.copyOf(conditions);
    }
}
