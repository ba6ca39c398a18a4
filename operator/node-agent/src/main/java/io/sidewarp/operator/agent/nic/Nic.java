// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import io.sidewarp.operator.api.v1alpha1.LinkState;
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

    /**
     * A network interface of a PCI function.
     *
     * @param state operational state (RFC 2863): Up, Unknown, or Down for all others
     * @param mtu MTU in bytes
     * @param speed speed in Mbit/s; empty while the link is down
     */
    public record NetworkInterface(String name, LinkState state, OptionalInt mtu, OptionalInt speed) {}

    /**
     * Virtual functions of a physical function.
     *
     * @param total maximum number that the device and its driver allow
     * @param number present number
     * @param virtualFunctions present virtual functions, by index
     */
    public record SrIov(int total, int number, List<VirtualFunction> virtualFunctions) {

        public SrIov {
            virtualFunctions = List.copyOf(virtualFunctions);
        }
    }

    /**
     * A virtual function of a NIC, as visible on this machine.
     *
     * @param index N of virtfnN
     * @param deviceId four hexadecimal digits
     * @param driver bound driver; empty if there is none
     * @param interfaces network interfaces; empty unless a network driver is bound
     * @param rdmaDevices RDMA devices; empty if the NIC's virtual functions have no RDMA
     */
    public record VirtualFunction(
            int index,
            PciAddress address,
            String deviceId,
            Optional<String> driver,
            List<NetworkInterface> interfaces,
            List<RdmaDevice> rdmaDevices) {

        public VirtualFunction {
            interfaces = List.copyOf(interfaces);
            rdmaDevices = List.copyOf(rdmaDevices);
        }
    }

    /** Returns the name of the NIC for people: its first interface, or its address if it has none. */
    public String name() {
        return interfaces.isEmpty() ? address.value() : interfaces.getFirst().name();
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
    public List<RdmaDevice> closedToUserSpace() {
        return allRdmaDevices()
                .filter(device -> device.isIwarp() && device.uverbs().isEmpty())
                .toList();
    }

    /** Returns the interfaces of virtual functions; those in network namespaces of pods are invisible. */
    public List<NetworkInterface> functionInterfaces() {
        return virtualFunctions().stream()
                .flatMap(function -> function.interfaces().stream())
                .toList();
    }

    public List<VirtualFunction> virtualFunctions() {
        return sriov.map(SrIov::virtualFunctions).orElse(List.of());
    }
}
