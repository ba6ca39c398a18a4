// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

/** Type of an RDMA device (enum rdma_node_type of the kernel, attribute node_type). */
public enum NodeType {
    /** InfiniBand and RoCE. */
    CA,
    SWITCH,
    ROUTER,
    /** iWARP. */
    RNIC,
    USNIC,
    USNIC_UDP,
    /** Others, such as EFA. */
    UNSPECIFIED;

    /** Reads an attribute such as {@code 4: RNIC}. */
    static NodeType parse(String attribute) {
        return switch (AttributeValues.leadingNumber(attribute)) {
            case 1 -> CA;
            case 2 -> SWITCH;
            case 3 -> ROUTER;
            case 4 -> RNIC;
            case 5 -> USNIC;
            case 6 -> USNIC_UDP;
            default -> UNSPECIFIED;
        };
    }
}
