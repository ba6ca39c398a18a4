// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Optional;

/**
 * A virtual function of a NIC, as visible on this machine.
 *
 * @param index N of virtfnN
 * @param address PCI address
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
