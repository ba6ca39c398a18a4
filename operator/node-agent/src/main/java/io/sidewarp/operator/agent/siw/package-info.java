// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Kernel soft-iWARP (siw): one RDMA device on a network interface, which the agent makes and removes. */
@NullMarked
package io.sidewarp.operator.agent.siw;

import org.jspecify.annotations.NullMarked;
