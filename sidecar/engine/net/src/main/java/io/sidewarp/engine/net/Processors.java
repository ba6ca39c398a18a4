// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Processors of this machine, and the share of their time that Linux gives this process. */
final class Processors {

    private static final Path ONLINE = Path.of("/sys/devices/system/cpu/online");
    private static final Path MEMBERSHIPS = Path.of("/proc/self/cgroup");
    private static final Path GROUPS = Path.of("/sys/fs/cgroup");

    private Processors() {}

    /**
     * Returns whether a thread of this process may keep a processor busy. The machine must have other processors for
     * its peers. No quota may give the process less than the time of one whole processor.
     */
    static boolean mayKeepOneBusy() {
        try {
            return count(Files.readString(ONLINE)) > 1 && quota(GROUPS, Files.readAllLines(MEMBERSHIPS)) >= 1;
        } catch (IOException | RuntimeException e) {
            // Another operating system, or one that tells less.
            return Runtime.getRuntime().availableProcessors() > 1;
        }
    }

    /**
     * Returns the seconds of processor time per second that a process may use. This is the smallest quota of its
     * control groups and of the groups around them. Infinite when none has a quota.
     *
     * @param mount mount point of the control groups
     * @param memberships control groups of the process, as cgroups(7) describes /proc/PID/cgroup. In a container the
     *     paths may be the host's and not exist here; the container's own group is then at the mount point.
     */
    static double quota(Path mount, List<String> memberships) throws IOException {
        double least = Double.POSITIVE_INFINITY;
        for (String membership : memberships) {
            String[] fields = membership.split(":", 3);
            boolean unified = fields[1].isEmpty();
            if (unified || List.of(fields[1].split(",", -1)).contains("cpu")) {
                Path root = unified ? mount : mount.resolve("cpu");
                Path group = root.resolve(fields[2].substring(1)).normalize();
                while (group != null && group.startsWith(root)) {
                    least = Math.min(least, unified ? unifiedQuota(group) : quota(group));
                    group = group.getParent();
                }
            }
        }
        return least;
    }

    /** Reads the quota of version 2: "50000 100000", or "max 100000". */
    private static double unifiedQuota(Path group) throws IOException {
        Path file = group.resolve("cpu.max");
        if (!Files.exists(file)) {
            return Double.POSITIVE_INFINITY;
        }
        String[] fields = Files.readString(file).strip().split(" ", 2);
        return fields[0].equals("max")
                ? Double.POSITIVE_INFINITY
                : Double.parseDouble(fields[0]) / Double.parseDouble(fields[1]);
    }

    /** Reads the quota of version 1: microseconds of a period, or -1 for the whole period. */
    private static double quota(Path group) throws IOException {
        Path file = group.resolve("cpu.cfs_quota_us");
        if (!Files.exists(file)) {
            return Double.POSITIVE_INFINITY;
        }
        double quota = Double.parseDouble(Files.readString(file).strip());
        return quota < 0
                ? Double.POSITIVE_INFINITY
                : quota
                        / Double.parseDouble(Files.readString(group.resolve("cpu.cfs_period_us"))
                                .strip());
    }

    /** Counts the processors in a list of Linux: numbers and ranges, such as 0-3,7. */
    static int count(String list) {
        int count = 0;
        for (String range : list.strip().split(",", -1)) {
            String[] ends = range.split("-", 2);
            count += Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1;
        }
        return count;
    }
}
