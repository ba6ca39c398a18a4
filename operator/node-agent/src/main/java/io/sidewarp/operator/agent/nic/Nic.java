// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * A network function on the PCI bus that has RDMA or may have virtual functions. It is a physical function, or a
 * virtual function whose physical function belongs to another machine.
 *
 * @param address PCI address
 * @param vendorId four hexadecimal digits
 * @param deviceId four hexadecimal digits
 * @param driver bound driver; empty if there is none
 * @param numaNode NUMA node; empty if unknown
 * @param interfaces network interface of each port, usually a single one
 * @param rdmaDevices RDMA devices of the function itself
 * @param sriov virtual functions; empty if the function cannot have any
 * @param enableIwarp devlink parameter enable_iwarp; empty if the driver has none
 * @param enableRoce devlink parameter enable_roce; empty if the driver has none that takes effect at once
 * @param unreadable parameters that could not be read, with the reasons; their values are empty
 */
public record Nic(
        PciAddress address,
        String vendorId,
        String deviceId,
        Optional<String> driver,
        OptionalInt numaNode,
        List<NetworkInterface> interfaces,
        List<RdmaDevice> rdmaDevices,
        Optional<SrIov> sriov,
        Optional<Boolean> enableIwarp,
        Optional<Boolean> enableRoce,
        List<String> unreadable) {

    public Nic {
        interfaces = List.copyOf(interfaces);
        rdmaDevices = List.copyOf(rdmaDevices);
        unreadable = List.copyOf(unreadable);
    }

    /** Returns whether the NIC speaks iWARP now, or would after its parameter is set. */
    public boolean isIwarpCapable() {
        return enableIwarp.isPresent() || allRdmaDevices().anyMatch(RdmaDevice::isIwarp);
    }

    /** Returns the RDMA devices of the function itself and of its virtual functions. */
    public Stream<RdmaDevice> allRdmaDevices() {
        return Stream.concat(
                rdmaDevices.stream(), virtualFunctions().stream().flatMap(function -> function.rdmaDevices().stream()));
    }

    /** Returns the iWARP devices that programs cannot open, because the module ib_uverbs is not loaded. */
    Stream<RdmaDevice> closedToUserSpace() {
        return allRdmaDevices()
                .filter(device -> device.isIwarp() && device.uverbs().isEmpty());
    }

    /** Returns whether programs cannot open some iWARP device of the NIC. */
    public boolean isClosedToUserSpace() {
        return closedToUserSpace().findAny().isPresent();
    }

    public List<VirtualFunction> virtualFunctions() {
        return sriov.map(SrIov::virtualFunctions).orElse(List.of());
    }
}
