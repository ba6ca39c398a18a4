// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Time of all processors so far, in ticks of 10 ms.
 *
 * @param total time of all processors, busy or idle
 * @param idle time without work
 * @param own time of this process and of its ended child processes
 */
public record Load(long total, long idle, long own) {

    /** Fields of /proc/stat behind "cpu": user, nice, system, idle, iowait, irq, softirq, steal. */
    private static final int TIMES = 8;

    private static final int IDLE = 3;
    private static final int IOWAIT = 4;

    /** Fields of /proc/self/stat behind the name: utime, stime, cutime, cstime. */
    private static final int OWN_FIRST = 11;

    private static final int OWN_LAST = 14;

    /** Returns the load up to now; all zero if it cannot be read. */
    public static Load now() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/stat"))) {
            return parse(lines.findFirst().orElse(""), Files.readString(Path.of("/proc/self/stat")));
        } catch (IOException e) {
            return new Load(0, 0, 0);
        }
    }

    static Load parse(String machine, String process) {
        String[] times = machine.trim().split(" +", -1);
        long total = 0;
        for (int i = 1; i <= TIMES && i < times.length; i++) {
            total += Long.parseLong(times[i]);
        }
        long idle = Long.parseLong(times[1 + IDLE]) + Long.parseLong(times[1 + IOWAIT]);
        // The name of the program is in parentheses, and may contain any characters.
        String[] fields = process.substring(process.lastIndexOf(')') + 1).trim().split(" ", -1);
        long own = 0;
        for (int i = OWN_FIRST; i <= OWN_LAST; i++) {
            own += Long.parseLong(fields[i]);
        }
        return new Load(total, idle, own);
    }

    /** Returns the share of other processes in the time since an earlier load, in percent. */
    public double othersPercentSince(Load earlier) {
        long elapsed = total - earlier.total;
        long others = elapsed - (idle - earlier.idle) - (own - earlier.own);
        return elapsed <= 0 ? 0 : Math.max(0, 100.0 * others / elapsed);
    }
}
