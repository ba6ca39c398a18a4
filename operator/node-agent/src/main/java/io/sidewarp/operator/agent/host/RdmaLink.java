// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.util.Map;

/**
 * An RDMA device as described by RDMA netlink.
 *
 * @param index the kernel's number of the device, never reused
 * @param name as in class/infiniband
 * @param interfaces network interface of each port by port number; only ports with one in the agent's network namespace
 */
public record RdmaLink(int index, String name, Map<Integer, String> interfaces) {

    public RdmaLink {
        interfaces = Map.copyOf(interfaces);
    }
}
