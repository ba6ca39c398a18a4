// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * A PCI function for networks that has RDMA or may have virtual functions: a physical function, or a virtual one whose
 * physical one another machine has.
 *
 * @param vendorId four hexadecimal digits
 * @param deviceId four hexadecimal digits
 * @param driver empty when none is bound
 * @param interfaces one for each port that the function has, most often a single one
 * @param sriov empty when there can be no virtual functions
 * @param enableIwarp the devlink parameter enable_iwarp, empty when the driver has none
 * @param enableRoce the devlink parameter enable_roce, empty when the driver has none that takes effect at once
 * @param unreadable which of these parameters could not be read, and why; they are empty
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

    /** Whether it speaks iWARP now, or would if its parameter were set. */
    public boolean isIwarpCapable() {
        return enableIwarp.isPresent() || allRdmaDevices().anyMatch(RdmaDevice::isIwarp);
    }

    /** Of the function itself and of its virtual ones. */
    public Stream<RdmaDevice> allRdmaDevices() {
        return Stream.concat(
                rdmaDevices.stream(), virtualFunctions().stream().flatMap(function -> function.rdmaDevices().stream()));
    }

    public List<VirtualFunction> virtualFunctions() {
        return sriov.map(SrIov::virtualFunctions).orElse(List.of());
    }
}
