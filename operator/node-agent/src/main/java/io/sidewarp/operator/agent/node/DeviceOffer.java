// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.device.DeviceNic;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.agent.nic.Inventory;
import io.sidewarp.operator.agent.nic.Nic;
import io.sidewarp.operator.agent.nic.Nic.NetworkInterface;
import io.sidewarp.operator.agent.nic.Nic.VirtualFunction;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.RdmaDevice;
import io.sidewarp.operator.agent.siw.SiwLinks.SiwLink;
import io.sidewarp.operator.api.v1alpha1.LinkState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Computes the devices that a node offers. Depends only on its arguments. */
final class DeviceOffer {
    private DeviceOffer() {}

    /**
     * Returns devices for the functions of the NICs that policies select. These are the virtual functions with RDMA. If
     * no virtual function has RDMA, the NIC itself is offered: some drivers give RDMA to the physical function alone. A
     * device that cannot be used now is offered as faulty and keeps its place. A link that goes down therefore does not
     * move the node to another provider.
     *
     * @param inventory NICs of the node
     * @param ruled NICs that a policy selects, with the name of the policy
     * @param foreign NICs whose virtual functions another program makes and offers, with their number; the NIC itself
     *     is offered here once they exist and none has RDMA
     * @param awaited NICs that may still get RDMA devices; the NIC itself is not offered while it waits
     * @param drained functions that pods have to leave; they are faulty so that no new pod gets them
     * @param used addresses of functions that pods have; empty if the kubelet does not answer
     */
    static List<RnicDevice> hardware(
            Inventory inventory,
            Map<PciAddress, String> ruled,
            Map<PciAddress, Integer> foreign,
            Set<PciAddress> awaited,
            Set<PciAddress> drained,
            Optional<Set<String>> used) {
        List<RnicDevice> devices = new ArrayList<>();
        for (Nic nic : inventory.nics()) {
            if (!ruled.containsKey(nic.address())) {
                continue;
            }
            List<RnicDevice> functions = nic.virtualFunctions().stream()
                    .flatMap(function -> virtual(nic, function, drained, used).stream())
                    .toList();
            Integer expected = foreign.get(nic.address());
            if (functions.isEmpty()
                    && !awaited.contains(nic.address())
                    && (expected == null || nic.virtualFunctions().size() >= expected)) {
                devices.addAll(physical(nic, drained));
            } else if (expected == null) {
                devices.addAll(functions);
            }
        }
        return devices;
    }

    /** Returns the shares of a siw device. */
    static List<RnicDevice> kernelSiw(SiwLink link, NetworkInterface port, int shares) {
        DeviceNic nic = new DeviceNic(Optional.empty(), Optional.empty(), Optional.empty(), port.state(), port.speed());
        return IntStream.range(0, shares)
                .mapToObj(share -> RnicDevice.kernelSiw(link.name(), share, link.uverbs())
                        .withInterface(link.networkInterface())
                        .onNic(nic))
                .toList();
    }

    /** Returns soft devices. */
    static List<RnicDevice> software(int count) {
        return IntStream.range(0, count).mapToObj(RnicDevice::soft).toList();
    }

    private static List<RnicDevice> physical(Nic nic, Set<PciAddress> drained) {
        return iwarp(nic.rdmaDevices())
                .flatMap(rdma -> device(nic, nic.address(), rdma, nic.interfaces(), drained, Optional.empty()).stream())
                .toList();
    }

    private static Optional<RnicDevice> virtual(
            Nic nic, VirtualFunction function, Set<PciAddress> drained, Optional<Set<String>> used) {
        return iwarp(function.rdmaDevices())
                .findFirst()
                .flatMap(rdma -> device(nic, function.address(), rdma, function.interfaces(), drained, used));
    }

    private static Stream<RdmaDevice> iwarp(List<RdmaDevice> devices) {
        return devices.stream().filter(RdmaDevice::isIwarp);
    }

    private static Optional<RnicDevice> device(
            Nic nic,
            PciAddress function,
            RdmaDevice rdma,
            List<NetworkInterface> interfaces,
            Set<PciAddress> drained,
            Optional<Set<String>> used) {
        if (rdma.uverbs().isEmpty()) {
            // No device node can be given to a container: the module ib_uverbs is not loaded.
            return Optional.empty();
        }
        RnicDevice device = RnicDevice.hardware(
                        function.value(), rdma.name(), rdma.uverbs().get())
                .ofPhysicalFunction(nic.name())
                .onNic(new DeviceNic(
                        Optional.of(nic.address().value()),
                        Optional.of(nic.vendorId()),
                        nic.driver(),
                        nic.interfaces().stream()
                                .map(NetworkInterface::state)
                                .findFirst()
                                .orElse(LinkState.UNKNOWN),
                        nic.interfaces().stream()
                                .map(NetworkInterface::speed)
                                .findFirst()
                                .orElseGet(OptionalInt::empty)));
        if (nic.numaNode().isPresent()) {
            device = device.onNumaNode(nic.numaNode().getAsInt());
        }
        if (!interfaces.isEmpty()) {
            device = device.withInterface(interfaces.getFirst().name());
        }
        if (drained.contains(function)) {
            device = device.faulty("it has to change, and waits for pods to leave " + nic.name());
        } else if (rdma.elsewhere()
                && used.filter(ids -> !ids.contains(function.value())).isPresent()) {
            device = device.faulty(rdma.name() + " is in another network namespace, but the kubelet gave it to no pod");
        } else if (!rdma.elsewhere() && !rdma.isUsable()) {
            device = device.faulty("no port of " + rdma.name() + " is active");
        } else if (nic.interfaces().stream().noneMatch(link -> link.state() == LinkState.UP)) {
            device = device.faulty("the link of " + nic.name() + " is down");
        }
        return Optional.of(device);
    }
}
