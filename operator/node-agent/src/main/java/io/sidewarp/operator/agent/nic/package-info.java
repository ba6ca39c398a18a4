// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Discovery and provisioning of the node's RDMA NICs. Provisioning sets the virtual functions, MTU and iWARP mode of
 * the NICs that a policy selects.
 */
@NullMarked
package io.sidewarp.operator.agent.nic;

import org.jspecify.annotations.NullMarked;
