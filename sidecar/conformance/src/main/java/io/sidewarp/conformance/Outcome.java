// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import java.util.Locale;

/** Result of a test method. If its invocations differ, the later constant counts. */
enum Outcome {
    SKIPPED,
    PASSED,
    FAILED;

    Outcome and(Outcome other) {
        return compareTo(other) >= 0 ? this : other;
    }

    String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the outcome with a name.
     *
     * @throws IllegalArgumentException if there is no such outcome
     */
    static Outcome parse(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }
}
