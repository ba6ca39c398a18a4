// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/**
 * The part of an {@link IwarpNicPolicy} that a node carries out.
 *
 * @param name name of the policy
 * @param generation generation of the policy
 * @param nicSelector which NICs
 * @param provisionedBy who sets the number of VFs and the MTU, and offers the VFs
 * @param virtualFunctions how many VFs; null to leave it as it is
 * @param mtu MTU in octets; null to leave it as it is
 * @param enableIwarp whether iWARP is on where devlink has a parameter for it; null to leave it as it is
 * @param drain what happens to pods on VFs that have to change
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodePolicy(
        @JsonPropertyDescription("Name of the IwarpNicPolicy.") @Required @Size(min = 1, max = 253)
        String name,

        @JsonPropertyDescription("Generation of the IwarpNicPolicy.") @Nullable
        Long generation,

        @JsonPropertyDescription("Which NICs.") @Required NicSelector nicSelector,

        @JsonPropertyDescription(
                "Who sets the number of virtual functions and the MTU, and offers the virtual functions. Not the node"
                        + " agent: it only waits until they are there.")
        ProvisionedBy provisionedBy,

        @JsonPropertyDescription("Number of virtual functions of each selected NIC. Unset: it stays as it is.")
        @Min(0)
        @Max(IwarpNicPolicySpec.MAX_VIRTUAL_FUNCTIONS)
        @Nullable
        Integer virtualFunctions,

        @JsonPropertyDescription("MTU of the selected NICs, in octets. Unset: it stays as it is.")
        @Min(IwarpNicPolicySpec.MIN_MTU)
        @Max(IwarpNicPolicySpec.MAX_MTU)
        @Nullable
        Integer mtu,

        @JsonPropertyDescription(
                "Whether iWARP is on in NICs that have a devlink parameter for it. Unset: it stays as it is.")
        @Nullable
        Boolean enableIwarp,

        @JsonPropertyDescription("What happens to pods that use virtual functions which have to change.")
        DrainSpec drain) {

    public NodePolicy {
        provisionedBy = provisionedBy == null ? ProvisionedBy.NODE_AGENT : provisionedBy;
        drain = drain == null ? new DrainSpec(null, null) : drain;
    }
}
