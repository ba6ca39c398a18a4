// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import java.util.Locale;

/** How a test method ended; later constants outweigh earlier ones when its invocations differ. */
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

    /** Throws IllegalArgumentException when there is no such outcome. */
    static Outcome parse(String text) {
        return valueOf(text.toUpperCase(Locale.ROOT));
    }
}
