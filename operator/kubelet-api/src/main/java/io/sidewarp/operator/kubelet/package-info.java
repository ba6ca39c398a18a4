// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * gRPC with the kubelet on Unix sockets, for the node agent and for the simulated kubelet in tests. The messages and
 * stubs of the subpackages are generated from the public API of Kubernetes.
 */
@NullMarked
package io.sidewarp.operator.kubelet;

import org.jspecify.annotations.NullMarked;
