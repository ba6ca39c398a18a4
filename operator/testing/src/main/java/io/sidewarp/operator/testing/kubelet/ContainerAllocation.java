// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing.kubelet;

import io.sidewarp.operator.kubelet.deviceplugin.v1beta1.ContainerAllocateResponse;
import java.util.List;

/**
 * Devices of a container.
 *
 * @param pod pod of the container
 * @param container name of the container
 * @param resource extended resource
 * @param deviceIds ids of the devices
 * @param response the plugin's answer for the container
 */
public record ContainerAllocation(
        PodName pod, String container, String resource, List<String> deviceIds, ContainerAllocateResponse response) {}
