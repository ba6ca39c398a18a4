// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

/** Entry point of Jazzer. Its target argument names the {@link FuzzTarget}. */
public final class JazzerEntry {

    private static FuzzTarget target = FuzzTarget.CONNECTION_RESPONDER;

    private JazzerEntry() {}

    /** Called once. */
    public static void fuzzerInitialize(String[] arguments) {
        target = FuzzTarget.named(arguments[0]);
    }

    /** Called for each execution. */
    public static void fuzzerTestOneInput(byte[] data) {
        target.run(data);
    }
}
