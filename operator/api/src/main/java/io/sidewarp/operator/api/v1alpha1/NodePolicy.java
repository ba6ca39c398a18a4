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

/** The part of an {@link IwarpNicPolicy} that a node carries out. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NodePolicy(
        @JsonPropertyDescription("Name of the IwarpNicPolicy.") @Required @Size(min = 1, max = 253)
        String name,

        @JsonPropertyDescription("Generation of the IwarpNicPolicy.") @Nullable
        Long generation,

        @JsonPropertyDescription("Selects the NICs.") @Required
        NicSelector nicSelector,

        @JsonPropertyDescription(
                "Component that sets the number of virtual functions and the MTU, and offers the virtual functions. If"
                        + " this is another component than the node agent, the node agent only waits until the virtual"
                        + " functions exist.")
        ProvisionedBy provisionedBy,

        @JsonPropertyDescription("Number of virtual functions of each selected NIC. Unset: the number stays unchanged.")
        @Min(0)
        @Max(IwarpNicPolicySpec.MAX_VIRTUAL_FUNCTIONS)
        @Nullable
        Integer virtualFunctions,

        @JsonPropertyDescription(
                "MTU of the selected NICs and of their virtual functions, in bytes. Unset: the MTU stays unchanged.")
        @Min(IwarpNicPolicySpec.MIN_MTU)
        @Max(IwarpNicPolicySpec.MAX_MTU)
        @Nullable
        Integer mtu,

        @JsonPropertyDescription(
                "Turns iWARP on or off in NICs that have a devlink parameter for iWARP. Unset: the parameter stays"
                        + " unchanged.")
        @Nullable
        Boolean enableIwarp,

        @JsonPropertyDescription("Handling of pods that use virtual functions that must change.")
        DrainSpec drain,

        @JsonPropertyDescription(
                "True: the device plugin offers the devices of the selected NICs, even on a node that offers the other"
                        + " devices to ResourceClaims. Policies with a Multus network need the device plugin.")
        @Nullable
        Boolean devicePlugin) {

    public NodePolicy {
        provisionedBy = provisionedBy == null ? ProvisionedBy.NODE_AGENT : provisionedBy;
        drain = drain == null ? new DrainSpec(null, null) : drain;
    }
}
