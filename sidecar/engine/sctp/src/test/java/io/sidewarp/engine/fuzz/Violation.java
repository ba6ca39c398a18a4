// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

/** A violation of an invariant, which no peer may be able to cause. */
final class Violation extends AssertionError {

    private static final long serialVersionUID = 1L;

    private Violation(String message) {
        super(message);
    }

    static void unless(boolean holds, String message) {
        if (!holds) {
            throw new Violation(message);
        }
    }
}
