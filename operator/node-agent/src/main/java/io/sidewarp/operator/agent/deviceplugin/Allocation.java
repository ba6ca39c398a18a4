// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.deviceplugin;

import io.grpc.Status;
import io.grpc.StatusException;
import io.sidewarp.operator.agent.device.ContainerAccess;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.api.v1alpha1.SidewarpApi;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerAllocateResponse;
import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.DeviceSpec;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Builds the kubelet's answer for a container that is given devices. */
final class Allocation {

    /** Annotation for the container runtime: ids of the devices, separated by commas. */
    static final String ANNOTATION = "sidewarp.io/rnic-devices";

    private final Map<String, RnicDevice> devices = new LinkedHashMap<>();

    Allocation(List<RnicDevice> devices) {
        devices.forEach(device -> this.devices.put(device.id(), device));
    }

    /**
     * Returns device nodes, environment and annotations for a container. Devices are of several kinds only while a node
     * changes from one kind to another. The provider is then the best of these kinds.
     *
     * @throws StatusException NOT_FOUND if a device does not exist, FAILED_PRECONDITION if a device is not healthy,
     *     INVALID_ARGUMENT if no device is named
     */
    ContainerAllocateResponse allocate(List<String> ids) throws StatusException {
        List<RnicDevice> given = find(ids);
        ContainerAllocateResponse.Builder response = ContainerAllocateResponse.newBuilder();
        ContainerAccess access = ContainerAccess.to(given);
        access.deviceNodes()
                .forEach(node -> response.addDevices(DeviceSpec.newBuilder()
                        .setHostPath(node)
                        .setContainerPath(node)
                        .setPermissions(ContainerAccess.PERMISSIONS)));
        response.putAllEnvs(access.environment());
        response.putAnnotations(ANNOTATION, given.stream().map(RnicDevice::id).collect(Collectors.joining(",")));
        return response.build();
    }

    private List<RnicDevice> find(List<String> ids) throws StatusException {
        if (ids.isEmpty()) {
            throw Status.INVALID_ARGUMENT
                    .withDescription("a container request names no device of " + SidewarpApi.RNIC_RESOURCE)
                    .asException();
        }
        LinkedHashSet<RnicDevice> given = new LinkedHashSet<>();
        for (String id : ids) {
            RnicDevice device = devices.get(id);
            if (device == null) {
                throw Status.NOT_FOUND
                        .withDescription("this node has no device " + id + " of " + SidewarpApi.RNIC_RESOURCE
                                + " (any more); the pod's controller will make another pod, which gets one of the"
                                + " devices that are there")
                        .asException();
            }
            if (!device.healthy()) {
                throw Status.FAILED_PRECONDITION
                        .withDescription("device " + id + " of " + SidewarpApi.RNIC_RESOURCE + " cannot be used: "
                                + device.fault().orElseThrow())
                        .asException();
            }
            given.add(device);
        }
        return List.copyOf(given);
    }
}
