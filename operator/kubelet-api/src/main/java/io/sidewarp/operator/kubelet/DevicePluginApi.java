// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.kubelet;

/** Constants of the device plugin API (k8s.io/kubelet, pkg/apis/deviceplugin/v1beta1, constants.go). */
public final class DevicePluginApi {

    /** Version of the API that a plugin registers. */
    public static final String VERSION = "v1beta1";

    /** The kubelet's socket in the directory of the device plugins. */
    public static final String KUBELET_SOCKET = "kubelet.sock";

    /** Health of a device that can be given to a pod. */
    public static final String HEALTHY = "Healthy";

    /** Health of a device that counts towards the node's capacity, but is not allocatable. */
    public static final String UNHEALTHY = "Unhealthy";

    /** Longest id of a device, in characters. */
    public static final int MAX_DEVICE_ID = 63;

    private DevicePluginApi() {}
}
