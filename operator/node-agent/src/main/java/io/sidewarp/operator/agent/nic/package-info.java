// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The node's RDMA NICs: finding them, and giving those that a policy selects their virtual functions, MTU and iWARP mode.
 */
@NullMarked
package io.sidewarp.operator.agent.nic;

import org.jspecify.annotations.NullMarked;
