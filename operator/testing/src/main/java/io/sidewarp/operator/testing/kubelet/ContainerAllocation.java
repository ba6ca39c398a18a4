// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerAllocateResponse;
import java.util.List;

/**
 * Devices that a container has.
 *
 * @param pod its pod
 * @param container its name
 * @param resource extended resource
 * @param deviceIds the devices
 * @param response what the plugin gives the container
 */
public record ContainerAllocation(
        PodName pod, String container, String resource, List<String> deviceIds, ContainerAllocateResponse response) {}
