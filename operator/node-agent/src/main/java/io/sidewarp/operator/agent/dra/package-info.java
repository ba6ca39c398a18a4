// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Driver of Dynamic Resource Allocation ({@code resource.k8s.io/v1}, Kubernetes 1.34 and later). The driver publishes
 * the node's devices in ResourceSlices, and prepares ResourceClaims for the kubelet.
 */
@NullMarked
package io.sidewarp.operator.agent.dra;

import org.jspecify.annotations.NullMarked;
