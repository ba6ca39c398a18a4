// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import java.util.Map;

/**
 * An RDMA device as RDMA netlink knows it.
 *
 * @param index the kernel's number of the device, never used again
 * @param name as in class/infiniband
 * @param interfaces the network interface of each port that has one in the agent's network namespace, by port number
 */
public record RdmaLink(int index, String name, Map<Integer, String> interfaces) {

    public RdmaLink {
        interfaces = Map.copyOf(interfaces);
    }
}
