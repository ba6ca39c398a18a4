// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The node's kernel as the agent sees it: sysfs, devlink and RDMA netlink behind one interface. Nothing else in the agent
 * reads or writes them.
 */
@NullMarked
package io.sidewarp.operator.agent.host;

import org.jspecify.annotations.NullMarked;
