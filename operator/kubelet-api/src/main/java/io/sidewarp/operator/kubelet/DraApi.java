// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.kubelet;

/** Constants of the kubelet's API for drivers of Dynamic Resource Allocation (k8s.io/kubelet, pkg/apis). */
public final class DraApi {

    /** Type of a plugin that is a driver of Dynamic Resource Allocation. */
    public static final String PLUGIN_TYPE = "DRAPlugin";

    /** Service that prepares claims. */
    public static final String DRA_SERVICE = "v1.DRAPlugin";

    /** Service that tells the health of devices. */
    public static final String HEALTH_SERVICE = "v1alpha1.DRAResourceHealth";

    private DraApi() {}
}
