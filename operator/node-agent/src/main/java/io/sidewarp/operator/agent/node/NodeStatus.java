// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.nic.Inventory;
import io.sidewarp.operator.agent.nic.Nic;
import io.sidewarp.operator.agent.nic.Nic.NetworkInterface;
import io.sidewarp.operator.agent.nic.Nic.SrIov;
import io.sidewarp.operator.agent.nic.Nic.VirtualFunction;
import io.sidewarp.operator.agent.nic.RdmaDevice;
import io.sidewarp.operator.api.v1alpha1.LinkState;
import io.sidewarp.operator.api.v1alpha1.NicStatus;
import io.sidewarp.operator.api.v1alpha1.ProvisioningState;
import io.sidewarp.operator.api.v1alpha1.VirtualFunctionStatus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Converts the findings on a node to the status of its IwarpNode. Depends only on its arguments. */
final class NodeStatus {
    private NodeStatus() {}

    /**
     * Returns the status of each NIC of a node.
     *
     * @param users pods that use a function, by its address
     */
    static List<NicStatus> nics(Inventory inventory, ProvisionedNics provisioned, Map<String, List<String>> users) {
        return inventory.nics().stream()
                .map(nic -> nic(nic, provisioned, users))
                .toList();
    }

    private static NicStatus nic(Nic nic, ProvisionedNics provisioned, Map<String, List<String>> users) {
        Optional<NetworkInterface> port = nic.interfaces().stream().findFirst();
        // Prefers the device that makes the NIC an RNIC.
        Optional<RdmaDevice> rdma = Stream.concat(
                        nic.rdmaDevices().stream().filter(RdmaDevice::isIwarp), nic.rdmaDevices().stream())
                .findFirst();
        return new NicStatus(
                nic.name(),
                nic.address().value(),
                nic.vendorId(),
                nic.deviceId(),
                orNull(nic.driver()),
                orNull(rdma.flatMap(RdmaDevice::firmware)),
                orNull(rdma.map(RdmaDevice::name)),
                orNull(rdma.map(device -> device.nodeType().name())),
                rdma.filter(RdmaDevice::isIwarp).isPresent(),
                port.map(NetworkInterface::state).orElse(LinkState.UNKNOWN),
                port.map(link -> orNull(link.speed())).orElse(null),
                port.map(link -> orNull(link.mtu())).orElse(null),
                orNull(nic.numaNode()),
                nic.sriov().map(SrIov::total).orElse(0),
                nic.virtualFunctions().stream()
                        .map(function -> virtualFunction(function, users))
                        .toList(),
                provisioned.ruled.get(nic.address()),
                provisioned.states.getOrDefault(nic.address(), ProvisioningState.DONE),
                provisioned.messages.get(nic.address()));
    }

    private static VirtualFunctionStatus virtualFunction(VirtualFunction function, Map<String, List<String>> users) {
        return new VirtualFunctionStatus(
                function.index(),
                function.address().value(),
                orNull(function.interfaces().stream()
                        .map(NetworkInterface::name)
                        .findFirst()),
                orNull(function.driver()),
                orNull(function.rdmaDevices().stream().map(RdmaDevice::name).findFirst()),
                orNull(users.getOrDefault(function.address().value(), List.of()).stream()
                        .findFirst()));
    }

    private static <T> @Nullable T orNull(Optional<T> value) {
        return value.orElse(null);
    }

    private static @Nullable Integer orNull(OptionalInt value) {
        return value.isPresent() ? value.getAsInt() : null;
    }
}
