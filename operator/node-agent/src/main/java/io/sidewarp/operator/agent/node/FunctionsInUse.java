// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import io.sidewarp.operator.agent.deviceplugin.DeviceUser;
import io.sidewarp.operator.agent.deviceplugin.DevicesInUse;
import io.sidewarp.operator.agent.deviceplugin.PublishedDevices;
import io.sidewarp.operator.agent.deviceplugin.RnicDevice;
import io.sidewarp.operator.agent.nic.PciAddress;
import io.sidewarp.operator.agent.nic.VirtualFunctionUse;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * Which pods use which functions, from the kubelet. A function that is asked about is withdrawn first, so that the kubelet gives
 * it to nobody while it changes; the next publication of all devices ends that.
 */
final class FunctionsInUse implements VirtualFunctionUse {
    private final DevicesInUse inUse;
    private final PublishedDevices devices;

    FunctionsInUse(DevicesInUse inUse, PublishedDevices devices) {
        this.inUse = inUse;
        this.devices = devices;
    }

    @Override
    public List<String> users(PciAddress function) {
        withdraw(function.value());
        try {
            return users(inUse.users(), function.value());
        } catch (IOException e) {
            return List.of("unknown pods (" + e.getMessage() + ")");
        }
    }

    static List<String> users(Map<String, List<DeviceUser>> byDevice, String device) {
        return byDevice.getOrDefault(device, List.of()).stream()
                .map(user -> user.namespace() + "/" + user.pod())
                .distinct()
                .toList();
    }

    private void withdraw(String id) {
        List<RnicDevice> present = devices.devices().orElse(List.of());
        if (present.stream().anyMatch(device -> device.id().equals(id) && device.healthy())) {
            devices.publish(present.stream()
                    .map(device -> device.id().equals(id) ? device.faulty("it is about to change") : device)
                    .toList());
        }
    }
}
