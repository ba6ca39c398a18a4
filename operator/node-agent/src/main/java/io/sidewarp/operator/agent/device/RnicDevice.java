// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import io.sidewarp.operator.kubelet.DevicePluginApi;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One device that a pod can have: a VF of an RNIC (or an RNIC without VFs), a share of a kernel siw device, or a soft
 * device.
 *
 * @param id PCI address, siw/DEVICE-SHARE, or soft-NUMBER; stays the same at each start of the agent, since the kubelet
 *     remembers it
 * @param kind kind of RDMA provider
 * @param fault reason why the device cannot be used; empty if it is healthy
 * @param numaNode nearest NUMA node; empty if there is no nearest one
 * @param deviceNodes device nodes that a container needs, as paths of the host
 * @param rdmaDevice name of the RDMA device; empty for a soft device
 * @param interfaceName network interface of its traffic, if known
 * @param physicalFunction name of the NIC whose bandwidth the device shares, if it has one
 * @param nic NIC of its traffic, if known
 */
public record RnicDevice(
        String id,
        ProviderKind kind,
        Optional<String> fault,
        OptionalInt numaNode,
        List<String> deviceNodes,
        Optional<String> rdmaDevice,
        Optional<String> interfaceName,
        Optional<String> physicalFunction,
        Optional<DeviceNic> nic) {

    /** Prefix of the ids of shares of siw devices. */
    public static final String SIW_PREFIX = "siw/";

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
     * Returns a healthy device for a VF, or for an RNIC without VFs.
     *
     * @param pciAddress its own PCI address
     * @param rdmaDevice name of its RDMA device
     * @param verbsDevice its verbs device, such as uverbs0
     */
    public static RnicDevice hardware(String pciAddress, String rdmaDevice, String verbsDevice) {
        return healthy(pciAddress, ProviderKind.HARDWARE, verbsNodes(verbsDevice), Optional.of(rdmaDevice));
    }

    /**
     * Returns a healthy device for one share of a siw device. Any number of containers can use a siw device.
     *
     * @param rdmaDevice name of the siw device
     * @param share number of the share, from 0
     * @param verbsDevice its verbs device, such as uverbs0
     */
    public static RnicDevice kernelSiw(String rdmaDevice, int share, String verbsDevice) {
        String id = SIW_PREFIX + rdmaDevice + "-" + share;
        return healthy(id, ProviderKind.KERNEL_SIW, verbsNodes(verbsDevice), Optional.of(rdmaDevice));
    }

    /**
     * Returns a soft device.
     *
     * @param number number of the soft device, from 0
     */
    public static RnicDevice soft(int number) {
        return healthy("soft-" + number, ProviderKind.SOFTWARE, List.of(), Optional.empty());
    }

    private static RnicDevice healthy(
            String id, ProviderKind kind, List<String> deviceNodes, Optional<String> rdmaDevice) {
        return new RnicDevice(
                id,
                kind,
                Optional.empty(),
                OptionalInt.empty(),
                deviceNodes,
                rdmaDevice,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    private static List<String> verbsNodes(String verbsDevice) {
        return List.of(NODES + verbsDevice, NODES + CONNECTION_MANAGER);
    }

    public boolean healthy() {
        return fault.isEmpty();
    }

    /** Returns the same device with a fault, so that it is not used. */
    public RnicDevice faulty(String reason) {
        return new RnicDevice(
                id, kind, Optional.of(reason), numaNode, deviceNodes, rdmaDevice, interfaceName, physicalFunction, nic);
    }

    /** Returns the same device with its nearest NUMA node. */
    public RnicDevice onNumaNode(int node) {
        return new RnicDevice(
                id, kind, fault, OptionalInt.of(node), deviceNodes, rdmaDevice, interfaceName, physicalFunction, nic);
    }

    /** Returns the same device as a VF of a NIC. */
    public RnicDevice ofPhysicalFunction(String nic) {
        return new RnicDevice(
                id, kind, fault, numaNode, deviceNodes, rdmaDevice, interfaceName, Optional.of(nic), this.nic);
    }

    /** Returns the same device with its network interface. */
    public RnicDevice withInterface(String name) {
        return new RnicDevice(
                id, kind, fault, numaNode, deviceNodes, rdmaDevice, Optional.of(name), physicalFunction, nic);
    }

    /** Returns the same device with what is known of its NIC. */
    public RnicDevice onNic(DeviceNic facts) {
        return new RnicDevice(
                id,
                kind,
                fault,
                numaNode,
                deviceNodes,
                rdmaDevice,
                interfaceName,
                physicalFunction,
                Optional.of(facts));
    }

    /** Returns the PCI address, if the device has one. */
    public Optional<String> pciAddress() {
        return kind == ProviderKind.HARDWARE ? Optional.of(id) : Optional.empty();
    }

    /** Returns the key of the link; devices with the same key share bandwidth. */
    public String sharedLink() {
        return physicalFunction.or(() -> interfaceName).orElse(id);
    }
}
