// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.sidewarp.operator.kubelet.DevicePluginApi;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Device;
import java.util.List;
import java.util.Optional;

/**
 * The kubelet's knowledge of an extended resource.
 *
 * @param devices devices in the plugin's last list
 * @param endpoint connection to the plugin; empty once its stream has ended
 */
record ManagedResource(List<Device> devices, Optional<PluginEndpoint> endpoint) {

    /** A resource of which only the name is remembered. */
    static final ManagedResource FORGOTTEN = new ManagedResource(List.of(), Optional.empty());

    List<Device> healthy() {
        return devices.stream()
                .filter(device -> device.getHealth().equals(DevicePluginApi.HEALTHY))
                .toList();
    }

    /** Returns the resource after its plugin has gone: devices still count, but none is healthy. */
    ManagedResource withoutPlugin() {
        return new ManagedResource(
                devices.stream()
                        .map(device -> device.toBuilder()
                                .setHealth(DevicePluginApi.UNHEALTHY)
                                .build())
                        .toList(),
                Optional.empty());
    }
}
