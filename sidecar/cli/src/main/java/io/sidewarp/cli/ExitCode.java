// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli;

/** Exit codes of the command. Codes from 66 on have the meaning of sysexits.h. docs/cli.md explains all codes. */
public final class ExitCode {

    public static final int OK = 0;

    /** A transfer failed, or what arrived is not what was sent. */
    public static final int FAILED = 1;

    /** Wrong arguments. */
    public static final int USAGE = 2;

    /** A file to be read does not exist, here or at the peer. */
    public static final int NO_INPUT = 66;

    /** No sidecar answers, or it went away. */
    public static final int UNAVAILABLE = 69;

    /** A bug. */
    public static final int INTERNAL = 70;

    /** Memory, disk space or a limit of the sidecar is too small. */
    public static final int NO_RESOURCES = 71;

    /** A file cannot be created, here or at the peer. */
    public static final int CANNOT_CREATE = 73;

    /** Reading or writing a file, or writing to standard output, failed. */
    public static final int IO_ERROR = 74;

    /** The peer cannot be reached, refused, or did not answer in time. A later attempt may succeed. */
    public static final int TEMPORARY = 75;

    /** The peer does not speak the same protocol. */
    public static final int PROTOCOL = 76;

    /** Not permitted. */
    public static final int NO_PERMISSION = 77;

    /** The sidecar's or this process's configuration does not allow it, for instance no shared volume. */
    public static final int CONFIGURATION = 78;

    /** Interrupted (SIGINT). */
    public static final int INTERRUPTED = 130;

    private ExitCode() {}
}
