// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

/**
 * One write.
 *
 * @param nic of which NIC
 * @param attribute what is written
 * @param from the value before
 * @param to the value after
 */
public record Change(PciAddress nic, NicAttribute attribute, int from, int to) {

    /** Whether virtual functions that there are go away. */
    boolean removesVirtualFunctions() {
        return attribute.kind() == NicAttribute.Kind.VIRTUAL_FUNCTIONS && from > 0;
    }

    @Override
    public String toString() {
        return attribute + " from " + text(from) + " to " + text(to);
    }

    private String text(int value) {
        return attribute.isSwitch() ? String.valueOf(value != 0) : String.valueOf(value);
    }
}
