// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.nic;

import java.util.OptionalInt;

/** Parses numbers in attributes of sysfs. */
final class AttributeValues {

    private AttributeValues() {}

    /** Parses a decimal number. Empty for text that is no number, and for a negative number, which means unknown. */
    static OptionalInt natural(String attribute) {
        try {
            int number = Integer.parseInt(attribute);
            return number < 0 ? OptionalInt.empty() : OptionalInt.of(number);
        } catch (NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /** Returns the number before the colon of a value such as {@code 4: ACTIVE}; -1 if there is none. */
    static int leadingNumber(String attribute) {
        int colon = attribute.indexOf(':');
        return natural(colon < 0 ? attribute : attribute.substring(0, colon)).orElse(-1);
    }
}
