// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

/** Exit codes of the command line, as docs/cli.md documents them. */
public final class ExitCodes {

    public static final int OK = 0;
    public static final int FAILED = 1;
    public static final int USAGE = 2;
    public static final int NO_INPUT = 66;
    public static final int UNAVAILABLE = 69;
    public static final int NO_RESOURCES = 71;
    public static final int CANNOT_CREATE = 73;
    public static final int IO_ERROR = 74;
    public static final int TEMPORARY = 75;
    public static final int PROTOCOL = 76;
    public static final int NO_PERMISSION = 77;
    public static final int CONFIGURATION = 78;
    public static final int INTERRUPTED = 130;
    public static final int TERMINATED = 143;

    private ExitCodes() {}
}
