// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * CPU time that a process has used.
 *
 * @param pid 0 if unknown
 */
public record ProcessCpu(long pid) {

    /** Returns the CPU time of this process. */
    public static ProcessCpu own() {
        return new ProcessCpu(ProcessHandle.current().pid());
    }

    /** Returns user and system time in nanoseconds. Empty when it cannot be read. */
    public OptionalLong nanos() {
        return ProcessHandle.of(pid).flatMap(process -> process.info().totalCpuDuration()).stream()
                .mapToLong(Duration::toNanos)
                .findAny();
    }

    /** Returns the nanoseconds since an earlier {@link #nanos()}, or -1 when one of the two is unknown. */
    public long since(OptionalLong earlier) {
        OptionalLong now = nanos();
        return now.isPresent() && earlier.isPresent() ? now.getAsLong() - earlier.getAsLong() : -1;
    }
}
