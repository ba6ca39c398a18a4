// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Access to the node's kernel: sysfs, devlink and RDMA netlink behind one interface. No other package of the agent
 * reads or writes them.
 */
@NullMarked
package io.sidewarp.operator.agent.host;

import org.jspecify.annotations.NullMarked;
