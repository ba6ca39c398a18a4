// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import java.util.List;
import java.util.OptionalDouble;

/**
 * A figure with a limit to reach.
 *
 * @param figure description of the figure, with the reference of a ratio
 * @param bound whether more or less is better
 * @param limit limit of the figure
 * @param measured measured value; empty if not measured
 */
record Target(String figure, Bound bound, double limit, OptionalDouble measured) {

    /** Side of the limit that is good. */
    enum Bound {
        AT_LEAST,
        AT_MOST
    }

    static Target atLeast(double limit, String figure, OptionalDouble measured) {
        return new Target(figure, Bound.AT_LEAST, limit, measured);
    }

    static Target atMost(double limit, String figure, OptionalDouble measured) {
        return new Target(figure, Bound.AT_MOST, limit, measured);
    }

    boolean isMet() {
        if (measured.isEmpty()) {
            return false;
        }
        return bound == Bound.AT_LEAST ? measured.getAsDouble() >= limit : measured.getAsDouble() <= limit;
    }

    List<String> row() {
        return List.of(
                figure,
                (bound == Bound.AT_LEAST ? "at least " : "at most ") + Cells.number(limit),
                measured.isPresent() ? Cells.number(measured.getAsDouble()) : "not measured",
                measured.isEmpty() ? "" : isMet() ? "yes" : "no");
    }
}
