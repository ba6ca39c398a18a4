// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

/**
 * One write to an attribute of a NIC.
 *
 * @param nic address of the NIC
 * @param attribute attribute that is written
 * @param from value before the write
 * @param to value after the write
 */
public record Change(PciAddress nic, NicAttribute attribute, int from, int to) {

    /** Returns whether the change removes existing virtual functions. */
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
