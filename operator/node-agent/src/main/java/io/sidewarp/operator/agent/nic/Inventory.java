// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Optional;

/**
 * NICs and software RDMA devices of a node.
 *
 * @param nics NICs, by PCI address
 * @param softwareDevices RDMA devices without hardware of their own, such as those of siw and rxe
 * @param connectionManager whether programs can use the kernel's connection manager, whose module is rdma_ucm
 */
public record Inventory(List<Nic> nics, List<RdmaDevice> softwareDevices, boolean connectionManager) {

    /** Directory of the device {@code /dev/infiniband/rdma_cm}. */
    static final String CONNECTION_MANAGER = "class/misc/rdma_cm";

    public Inventory {
        nics = List.copyOf(nics);
        softwareDevices = List.copyOf(softwareDevices);
    }

    public Optional<Nic> nic(PciAddress address) {
        return nics.stream().filter(nic -> nic.address().equals(address)).findFirst();
    }
}
