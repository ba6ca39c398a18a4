// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Optional;

/**
 * An RDMA device of the kernel.
 *
 * @param name name as in class/infiniband and in the sidecar's settings
 * @param nodeType type of the device
 * @param function PCI function behind the device; empty for software
 * @param firmware version of the firmware
 * @param ports ports of the device
 * @param uverbs name of the device node below /dev/infiniband; empty if ib_uverbs is not loaded
 * @param elsewhere true if the device is in another network namespace, such as a pod's; its ports are then invisible
 */
public record RdmaDevice(
        String name,
        NodeType nodeType,
        Optional<PciAddress> function,
        Optional<String> firmware,
        List<RdmaPort> ports,
        Optional<String> uverbs,
        boolean elsewhere) {

    public RdmaDevice {
        ports = List.copyOf(ports);
    }

    /** Type of an RDMA device (enum rdma_node_type of the kernel, attribute node_type). */
    public enum NodeType {
        /** InfiniBand and RoCE. */
        CA,
        SWITCH,
        ROUTER,
        /** iWARP. */
        RNIC,
        USNIC,
        USNIC_UDP,
        /** Others, such as EFA. */
        UNSPECIFIED;

        /** Reads an attribute such as {@code 4: RNIC}. */
        static NodeType parse(String attribute) {
            return switch (attribute.split(":", 2)[0]) {
                case "1" -> CA;
                case "2" -> SWITCH;
                case "3" -> ROUTER;
                case "4" -> RNIC;
                case "5" -> USNIC;
                case "6" -> USNIC_UDP;
                default -> UNSPECIFIED;
            };
        }
    }

    /**
     * A port of an RDMA device.
     *
     * @param number number of the port, from 1
     * @param active whether the port is in the state IB_PORT_ACTIVE
     * @param networkInterface network interface whose addresses the port has
     */
    public record RdmaPort(int number, boolean active, Optional<String> networkInterface) {}

    /** Returns whether the device speaks iWARP, rather than RoCE or InfiniBand. */
    public boolean isIwarp() {
        return nodeType == NodeType.RNIC;
    }

    /** Returns whether a program could connect through the device now. */
    public boolean isUsable() {
        return isIwarp() && uverbs.isPresent() && ports.stream().anyMatch(RdmaPort::active);
    }
}
