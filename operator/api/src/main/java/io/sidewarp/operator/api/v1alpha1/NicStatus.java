// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A NIC of a node, that is its physical function.
 *
 * @param name network interface, or the PCI address when there is none
 * @param pciAddress PCI address
 * @param vendor PCI vendor id, four hexadecimal digits
 * @param device PCI device id, four hexadecimal digits
 * @param driver kernel driver; null when none is bound
 * @param firmware firmware version, where the kernel tells it
 * @param rdmaDevice name of the RDMA device; null when there is none
 * @param rdmaNodeType kind of the RDMA device, RNIC for iWARP
 * @param iwarp whether it can be used for iWARP
 * @param linkState Up, Down or Unknown
 * @param speedMbps speed of the link in Mbit/s
 * @param mtu MTU in octets
 * @param numaNode NUMA node; null when the machine has one only
 * @param totalVirtualFunctions how many VFs the NIC can have
 * @param virtualFunctions the VFs that it has
 * @param policy policy that rules it; null when none selects it
 * @param state how far it is what the policy asks for, or without one what it was before; null of node agents that do not tell
 * @param message what is wrong with it; null when nothing is
 */
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

        @JsonPropertyDescription("Firmware version, where the kernel tells it.") @Nullable
        String firmware,

        @JsonPropertyDescription("Name of the RDMA device. Unset: there is none.") @Nullable
        String rdmaDevice,

        @JsonPropertyDescription(
                "Kind of the RDMA device as the kernel names it: RNIC for iWARP, CA for InfiniBand and RoCE.")
        @Nullable
        String rdmaNodeType,

        @JsonPropertyDescription("Whether the NIC can be used for iWARP as it is.")
        boolean iwarp,

        @JsonPropertyDescription("State of the link.") @Required
        LinkState linkState,

        @JsonPropertyDescription("Speed of the link in Mbit/s.") @Nullable
        Integer speedMbps,

        @JsonPropertyDescription("MTU in octets.") @Nullable Integer mtu,

        @JsonPropertyDescription("NUMA node. Unset: the machine has one only.") @Nullable
        Integer numaNode,

        @JsonPropertyDescription("How many virtual functions the NIC can have.")
        int totalVirtualFunctions,

        @JsonPropertyDescription("Virtual functions that it has.")
        List<VirtualFunctionStatus> virtualFunctions,

        @JsonPropertyDescription("Policy that rules the NIC. Unset: none selects it, and it is not touched.") @Nullable
        String policy,

        @JsonPropertyDescription(
                "Done: the NIC is what its policy asks for, or, without one, what it was before; the message may say why it"
                        + " cannot be used. Waiting: for pods to go, or for what others make. Failed: a change failed or was"
                        + " refused.")
        @Nullable
        ProvisioningState state,

        @JsonPropertyDescription("What is wrong with the NIC, and what to do. Unset: nothing is.") @Nullable
        String message) {

    public NicStatus {
        virtualFunctions = virtualFunctions == null ? List.of() : List.copyOf(virtualFunctions);
    }
}
