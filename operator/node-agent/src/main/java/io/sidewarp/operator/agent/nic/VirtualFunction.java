// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.List;
import java.util.Optional;

/**
 * A virtual function of a NIC, as far as this machine has it.
 *
 * @param index N of virtfnN
 * @param driver empty when none is bound
 * @param interfaces none when the driver is none for networks
 * @param rdmaDevices none when the NIC's virtual functions have no RDMA
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
