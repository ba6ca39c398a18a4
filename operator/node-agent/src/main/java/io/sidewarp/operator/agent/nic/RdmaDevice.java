// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An RDMA device of the kernel.
 *
 * @param name name as in class/infiniband and in the sidecar's settings
 * @param nodeType type of the device
 * @param function PCI function behind the device; empty for software
 * @param firmware version of the firmware
 * @param numaNode NUMA node; empty if unknown
 * @param ports ports of the device
 * @param uverbs name of the device node below /dev/infiniband; empty if ib_uverbs is not loaded
 * @param elsewhere true if the device is in another network namespace, such as a pod's; its ports are then invisible
 */
public record RdmaDevice(
        String name,
        NodeType nodeType,
        Optional<PciAddress> function,
        Optional<String> firmware,
        OptionalInt numaNode,
        List<RdmaPort> ports,
        Optional<String> uverbs,
        boolean elsewhere) {

    public RdmaDevice {
        ports = List.copyOf(ports);
    }

    /** Returns whether the device speaks iWARP, rather than RoCE or InfiniBand. */
    public boolean isIwarp() {
        return nodeType == NodeType.RNIC;
    }

    public boolean isSoftware() {
        return function.isEmpty();
    }

    /** Returns whether a program could connect through the device now. */
    public boolean isUsable() {
        return isIwarp() && uverbs.isPresent() && ports.stream().anyMatch(port -> port.state() == PortState.ACTIVE);
    }
}
