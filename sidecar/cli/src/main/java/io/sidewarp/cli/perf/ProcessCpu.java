// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * CPU time that a process has used, from /proc/PID/stat.
 *
 * @param pid 0 if unknown
 */
public record ProcessCpu(long pid) {

    /** Nanoseconds of a clock tick of the kernel, the same on every Linux (USER_HZ). */
    private static final long NANOS_PER_TICK = 10_000_000;

    private static final int USER_TIME = 11;
    private static final int SYSTEM_TIME = 12;

    /** Returns the CPU time of this process. */
    public static ProcessCpu own() {
        return new ProcessCpu(ProcessHandle.current().pid());
    }

    /** Returns user and system time in nanoseconds. Empty when it cannot be read. */
    public OptionalLong nanos() {
        if (pid <= 0) {
            return OptionalLong.empty();
        }
        try {
            return parse(Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    /** Returns the nanoseconds since an earlier {@link #nanos()}, or -1 when one of the two is unknown. */
    public long since(OptionalLong earlier) {
        OptionalLong now = nanos();
        return now.isPresent() && earlier.isPresent() ? now.getAsLong() - earlier.getAsLong() : -1;
    }

    static OptionalLong parse(String stat) {
        // The name of the program is in parentheses, and may contain anything.
        int nameEnd = stat.lastIndexOf(')');
        if (nameEnd < 0) {
            return OptionalLong.empty();
        }
        String[] fields = stat.substring(nameEnd + 1).trim().split(" ", -1);
        if (fields.length <= SYSTEM_TIME) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(
                    (Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[SYSTEM_TIME])) * NANOS_PER_TICK);
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }
}
