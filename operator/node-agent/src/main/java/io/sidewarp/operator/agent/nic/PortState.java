// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

/** State of a port of an RDMA device (enum ib_port_state of the kernel, attribute state). */
public enum PortState {
    UNKNOWN,
    DOWN,
    INIT,
    ARMED,
    ACTIVE,
    ACTIVE_DEFER;

    /** Reads an attribute such as {@code 4: ACTIVE}. */
    static PortState parse(String attribute) {
        int number = AttributeValues.leadingNumber(attribute);
        return number > 0 && number < values().length ? values()[number] : UNKNOWN;
    }
}
