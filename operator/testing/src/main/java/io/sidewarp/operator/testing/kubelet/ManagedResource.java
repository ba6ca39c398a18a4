// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.sidewarp.operator.kubelet.DevicePluginApi;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.Device;
import java.util.List;
import java.util.Optional;

/**
 * What the kubelet knows of an extended resource.
 *
 * @param devices as the plugin last told
 * @param endpoint the plugin; empty once its stream has ended
 */
record ManagedResource(List<Device> devices, Optional<PluginEndpoint> endpoint) {

    /** Nothing is known of the resource but that it was there. */
    static final ManagedResource FORGOTTEN = new ManagedResource(List.of(), Optional.empty());

    List<Device> healthy() {
        return devices.stream()
                .filter(device -> device.getHealth().equals(DevicePluginApi.HEALTHY))
                .toList();
    }

    /** The plugin is gone: its devices still count, but none is healthy. */
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
