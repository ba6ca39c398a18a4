// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.kubelet.DevicePluginApi;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One device that a pod can have: a VF of an RNIC (or an RNIC without VFs), a share of a kernel siw device, or a soft device.
 *
 * @param id the same for the same device at each start of the agent, since the kubelet remembers it: PCI address,
 *     siw/DEVICE-SHARE, or soft-NUMBER
 * @param kind what carries out RDMA
 * @param fault why it cannot be used; empty: it is healthy
 * @param numaNode NUMA node that it is near to; empty: none in particular
 * @param deviceNodes device nodes that a container needs, as paths of the host
 * @param rdmaDevice name of the RDMA device; empty for a soft device
 * @param pciAddress PCI address, where it has one
 * @param interfaceName network interface that its traffic takes, where it is known
 * @param physicalFunction PCI address of the NIC whose bandwidth it shares with others, where it has one
 */
public record RnicDevice(
        String id,
        ProviderKind kind,
        Optional<String> fault,
        OptionalInt numaNode,
        List<String> deviceNodes,
        Optional<String> rdmaDevice,
        Optional<String> pciAddress,
        Optional<String> interfaceName,
        Optional<String> physicalFunction) {

    private static final String NODES = "/dev/infiniband/";
    private static final String CONNECTION_MANAGER = "rdma_cm";

    public RnicDevice {
        if (id.isBlank() || id.length() > DevicePluginApi.MAX_DEVICE_ID) {
            throw new IllegalArgumentException("'" + id + "' is no id of a device: it needs 1 to "
                    + DevicePluginApi.MAX_DEVICE_ID + " characters");
        }
        deviceNodes = List.copyOf(deviceNodes);
    }

    /**
     * A VF, or an RNIC that is used without.
     *
     * @param pciAddress its own PCI address
     * @param rdmaDevice name of its RDMA device
     * @param verbsDevice its verbs device, such as uverbs0
     */
    public static RnicDevice hardware(String pciAddress, String rdmaDevice, String verbsDevice) {
        return new RnicDevice(
                pciAddress,
                ProviderKind.HARDWARE,
                Optional.empty(),
                OptionalInt.empty(),
                verbsNodes(verbsDevice),
                Optional.of(rdmaDevice),
                Optional.of(pciAddress),
                Optional.empty(),
                Optional.empty());
    }

    /**
     * A share of a siw device, which any number of containers can use.
     *
     * @param rdmaDevice name of the siw device
     * @param share number of the share, from 0
     * @param verbsDevice its verbs device, such as uverbs0
     */
    public static RnicDevice kernelSiw(String rdmaDevice, int share, String verbsDevice) {
        return new RnicDevice(
                "siw/" + rdmaDevice + "-" + share,
                ProviderKind.KERNEL_SIW,
                Optional.empty(),
                OptionalInt.empty(),
                verbsNodes(verbsDevice),
                Optional.of(rdmaDevice),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** @param number number of the soft device, from 0 */
    public static RnicDevice soft(int number) {
        return new RnicDevice(
                "soft-" + number,
                ProviderKind.SOFTWARE,
                Optional.empty(),
                OptionalInt.empty(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    public boolean healthy() {
        return fault.isEmpty();
    }

    /** The same device, which cannot be used. */
    public RnicDevice faulty(String reason) {
        return new RnicDevice(
                id,
                kind,
                Optional.of(reason),
                numaNode,
                deviceNodes,
                rdmaDevice,
                pciAddress,
                interfaceName,
                physicalFunction);
    }

    /** The same device, near to a NUMA node. */
    public RnicDevice onNumaNode(int node) {
        return new RnicDevice(
                id,
                kind,
                fault,
                OptionalInt.of(node),
                deviceNodes,
                rdmaDevice,
                pciAddress,
                interfaceName,
                physicalFunction);
    }

    /** The same device, as a VF of a NIC. */
    public RnicDevice ofPhysicalFunction(String nic) {
        return new RnicDevice(
                id, kind, fault, numaNode, deviceNodes, rdmaDevice, pciAddress, interfaceName, Optional.of(nic));
    }

    /** The same device, with its network interface. */
    public RnicDevice withInterface(String name) {
        return new RnicDevice(
                id, kind, fault, numaNode, deviceNodes, rdmaDevice, pciAddress, Optional.of(name), physicalFunction);
    }

    /** Devices with the same value share bandwidth. */
    String sharedLink() {
        return physicalFunction.or(() -> interfaceName).orElse(id);
    }

    private static List<String> verbsNodes(String verbsDevice) {
        return List.of(NODES + verbsDevice, NODES + CONNECTION_MANAGER);
    }
}
