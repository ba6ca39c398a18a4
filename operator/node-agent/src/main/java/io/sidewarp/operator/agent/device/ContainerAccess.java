// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import io.sidewarp.operator.api.v1alpha1.ProviderKind;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Access of a container to some devices.
 *
 * @param deviceNodes device nodes, as paths of the host and of the container
 * @param environment environment variables
 */
public record ContainerAccess(List<String> deviceNodes, Map<String, String> environment) {

    /** Kind of provider that the container's devices belong to: hardware, kernel-siw or software. */
    public static final String PROVIDER = "SIDEWARP_RNIC_PROVIDER";

    /**
     * RDMA devices that the container may use, separated by commas. Not set when the container has soft devices only.
     */
    public static final String DEVICES = "SIDEWARP_RNIC_DEVICES";

    /** Permissions of the device nodes: read and write. */
    public static final String PERMISSIONS = "rw";

    public ContainerAccess {
        deviceNodes = List.copyOf(deviceNodes);
        environment = Map.copyOf(environment);
    }

    /**
     * Returns the access to some devices, at least one. Devices of several kinds only occur while a node changes from
     * one kind to another. The provider is then the best of these kinds.
     */
    public static ContainerAccess to(List<RnicDevice> devices) {
        Map<String, String> environment = new TreeMap<>();
        ProviderKind best = devices.stream()
                .map(RnicDevice::kind)
                .min(Comparator.naturalOrder())
                .orElseThrow();
        environment.put(PROVIDER, DeviceName.provider(best));
        String rdmaDevices = devices.stream()
                .map(RnicDevice::rdmaDevice)
                .flatMap(Optional::stream)
                .distinct()
                .collect(Collectors.joining(","));
        if (!rdmaDevices.isEmpty()) {
            environment.put(DEVICES, rdmaDevices);
        }
        return new ContainerAccess(
                devices.stream()
                        .flatMap(device -> device.deviceNodes().stream())
                        .distinct()
                        .toList(),
                environment);
    }
}
