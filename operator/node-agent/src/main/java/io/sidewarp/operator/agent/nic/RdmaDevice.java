// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An RDMA device of the kernel.
 *
 * @param name as in class/infiniband and in the sidecar's settings
 * @param function the PCI function behind it, empty for software
 * @param firmware version
 * @param uverbs name of the device node below /dev/infiniband, empty when ib_uverbs is not loaded
 * @param elsewhere whether it is in another network namespace, such as a pod's: its ports cannot be seen then
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

    /** Whether it speaks iWARP, rather than RoCE or InfiniBand. */
    public boolean isIwarp() {
        return nodeType == NodeType.RNIC;
    }

    public boolean isSoftware() {
        return function.isEmpty();
    }

    /** Whether a program could connect through it now. */
    public boolean isUsable() {
        return isIwarp() && uverbs.isPresent() && ports.stream().anyMatch(port -> port.state() == PortState.ACTIVE);
    }
}
