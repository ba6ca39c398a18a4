// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The processors of this machine, and how much of their time Linux gives this process. */
final class Processors {

    private static final Path ONLINE = Path.of("/sys/devices/system/cpu/online");
    private static final Path MEMBERSHIPS = Path.of("/proc/self/cgroup");
    private static final Path GROUPS = Path.of("/sys/fs/cgroup");

    private Processors() {}

    /**
     * Whether a thread of this process may keep a processor busy: the machine has others for its peers, and no quota gives the
     * process less than the time of a whole one.
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
     * Seconds of processor time in each second that the control groups of a process, and those around them, leave it; infinite
     * when none has a quota.
     *
     * @param mount of the control groups
     * @param memberships of the process, as cgroups(7) describes /proc/PID/cgroup. Their paths may be the host's and not be
     *     there, as in a container, whose own group is where the mount begins.
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

    /** Of version 2: "50000 100000", or "max 100000". */
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

    /** Of version 1: microseconds of a period, -1 for all of it. */
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

    /** Processors of a list as Linux writes it: numbers and ranges, such as 0-3,7. */
    static int count(String list) {
        int count = 0;
        for (String range : list.strip().split(",", -1)) {
            String[] ends = range.split("-", 2);
            count += Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1;
        }
        return count;
    }
}
