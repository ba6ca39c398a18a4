// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A NIC of a node, represented by its physical function. If a node agent reports no state, the state is null. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NicStatus(
        @JsonPropertyDescription("Network interface, or the PCI address when there is none.") @Required
        String name,

        @JsonPropertyDescription("PCI address of the physical function.") @Required
        String pciAddress,

        @JsonPropertyDescription("PCI vendor id, four hexadecimal digits.") @Required
        String vendor,

        @JsonPropertyDescription("PCI device id, four hexadecimal digits.") @Required
        String device,

        @JsonPropertyDescription("Kernel driver. Unset: none is bound.") @Nullable
        String driver,

        @JsonPropertyDescription("Firmware version, if the kernel reports it.") @Nullable
        String firmware,

        @JsonPropertyDescription("Name of the RDMA device. Unset: there is none.") @Nullable
        String rdmaDevice,

        @JsonPropertyDescription(
                "Kind of the RDMA device as the kernel names it: RNIC for iWARP, CA for InfiniBand and RoCE.")
        @Nullable
        String rdmaNodeType,

        @JsonPropertyDescription("True if the NIC can be used for iWARP in its present state.")
        boolean iwarp,

        @JsonPropertyDescription("State of the link.") @Required
        LinkState linkState,

        @JsonPropertyDescription("Speed of the link in Mbit/s.") @Nullable
        Integer speedMbps,

        @JsonPropertyDescription("MTU in bytes.") @Nullable Integer mtu,

        @JsonPropertyDescription("NUMA node. Unset: the machine has only one.") @Nullable
        Integer numaNode,

        @JsonPropertyDescription("Largest number of virtual functions that the NIC can have.")
        int totalVirtualFunctions,

        @JsonPropertyDescription("Virtual functions of the NIC.")
        List<VirtualFunctionStatus> virtualFunctions,

        @JsonPropertyDescription(
                "Policy that applies to the NIC. Unset: no policy selects the NIC, and the NIC is not changed.")
        @Nullable
        String policy,

        @JsonPropertyDescription(
                "Done: the NIC is as its policy requests or, without a policy, as it was before. The message may say"
                        + " why the NIC cannot be used. Waiting: a change waits for pods to leave, or for another"
                        + " component. Failed: a change failed or was refused.")
        @Nullable
        ProvisioningState state,

        @JsonPropertyDescription("Problem of the NIC, and what to do. Unset: there is no problem.") @Nullable
        String message) {

    public NicStatus {
        virtualFunctions = virtualFunctions == null ? List.of() : List.copyOf(virtualFunctions);
    }
}
