// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli;

import org.jspecify.annotations.Nullable;

/** Ends a command: a message for people that names the cause and the remedy, and the exit code. */
public final class Failure extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final int exitCode;

    public Failure(int exitCode, String message) {
        this(exitCode, message, null);
    }

    public Failure(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    public int exitCode() {
        return exitCode;
    }

    /** @throws Failure when a number that the user gave is out of its range */
    public static void checkRange(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw new Failure(ExitCode.USAGE, what + " is " + value + ", and must be " + least + " to " + most);
        }
    }

    /** Returns the failure when standard output cannot be written. */
    public static Failure noOutput() {
        return new Failure(
                ExitCode.IO_ERROR, "standard output cannot be written: it is closed, or there is no space for it");
    }

    /** Returns the failure when the user interrupted the command. */
    public static Failure interrupted() {
        return new Failure(ExitCode.INTERRUPTED, "interrupted");
    }
}
