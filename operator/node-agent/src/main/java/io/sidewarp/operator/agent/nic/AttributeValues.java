// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.OptionalInt;

/** Numbers in attributes of sysfs. */
final class AttributeValues {

    private AttributeValues() {}

    /** A decimal number, empty when it is negative, which stands for unknown, or none. */
    static OptionalInt natural(String attribute) {
        try {
            int number = Integer.parseInt(attribute);
            return number < 0 ? OptionalInt.empty() : OptionalInt.of(number);
        } catch (NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /** The number before the colon of a value such as {@code 4: ACTIVE}, -1 when there is none. */
    static int leadingNumber(String attribute) {
        int colon = attribute.indexOf(':');
        return natural(colon < 0 ? attribute : attribute.substring(0, colon)).orElse(-1);
    }
}
