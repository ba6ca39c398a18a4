// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a node agent found and did.
 *
 * @param observedGeneration generation of the IwarpNode that this status is of
 * @param agentVersion version of the node agent
 * @param kernelVersion version of the node's kernel
 * @param nics RDMA-capable or SR-IOV-capable NICs
 * @param providers how many devices each kind of provider has
 * @param activeProvider what the node offers now; null for nothing
 * @param devices how many devices the node offers now
 * @param nodeState the same as {@link NicStatus#state} of what is of no NIC; null of node agents that do not tell
 * @param conditions Ready, Progressing, Degraded
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record IwarpNodeStatus(
        @JsonPropertyDescription("Generation of the IwarpNode that this status describes.") @Nullable
        Long observedGeneration,

        @JsonPropertyDescription("Version of the node agent.") @Nullable
        String agentVersion,

        @JsonPropertyDescription("Version of the node's kernel.") @Nullable
        String kernelVersion,

        @JsonPropertyDescription("NICs of the node that can do RDMA or SR-IOV.")
        List<NicStatus> nics,

        @JsonPropertyDescription("How many devices each kind of provider could offer.") @Nullable
        ProviderCounts providers,

        @JsonPropertyDescription("Kind of provider that the node offers now. Unset: none.") @Nullable
        ProviderKind activeProvider,

        @JsonPropertyDescription("How many devices (sidewarp.io/rnic) the node offers now.") @Nullable
        Integer devices,

        @JsonPropertyDescription(
                "State of what is of no NIC: the siw device, the device plugin, and whether the node could be looked at. A policy"
                        + " is carried out on the node when this and the states of its NICs are Done.")
        @Nullable
        ProvisioningState nodeState,

        @JsonPropertyDescription(
                "Ready: all policies are carried out. Progressing: a change is under way or waits for pods."
                        + " Degraded: a change failed; the message says which and what to do. With the reason LookFailed the"
                        + " node could not be looked at, and all else is what an earlier look found.")
        List<StatusCondition> conditions) {

    /** Reason of Degraded when the node could not be looked at: all else in the status is what an earlier look found. */
    public static final String LOOK_FAILED = "LookFailed";

    public IwarpNodeStatus {
        nics = nics == null ? List.of() : List.copyOf(nics);
        conditions = conditions == null ? List.of() : List.copyOf(conditions);
    }
}
