// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * A control group whose processes share a quota of processor time, like the processes of a container with a CPU limit.
 * Uses version 1 or 2 of control groups, whichever has the cpu controller.
 */
public final class CpuQuota implements AutoCloseable {

    private static final Path MOUNT = Path.of("/sys/fs/cgroup");

    /** Period after which the kernel renews the quota, as for containers. */
    private static final int PERIOD_MICROS = 100_000;

    private static final int REMOVALS = 500;
    private static final long REMOVAL_PAUSE_NANOS = 10_000_000;

    private final Path group;

    /**
     * Use of a quota.
     *
     * @param periods periods in which processes of the group ran
     * @param throttled periods in which processes had to wait for the next period
     */
    public record Use(long periods, long throttled) {

        static Use parse(List<String> stat) {
            return new Use(number(stat, "nr_periods "), number(stat, "nr_throttled "));
        }

        /** Returns the percentage of periods in which processes had to wait. */
        public double throttledPercent() {
            return periods == 0 ? 0 : 100.0 * throttled / periods;
        }

        private static long number(List<String> stat, String name) {
            return stat.stream()
                    .filter(line -> line.startsWith(name))
                    .mapToLong(line -> Long.parseLong(line.substring(name.length())))
                    .findFirst()
                    .orElse(0);
        }
    }

    private CpuQuota(Path group) {
        this.group = group;
    }

    /** Returns the reason why this machine or user cannot set a quota; empty if a quota can be set. */
    public static Optional<String> obstacle() {
        try (CpuQuota ignored = create("probe", 1)) {
            return Optional.empty();
        } catch (Failure e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Makes a group.
     *
     * @param processors seconds of processor time in each second
     * @throws Failure if the group cannot be made
     */
    public static CpuQuota create(String name, double processors) {
        boolean unified = Files.exists(MOUNT.resolve("cgroup.controllers"));
        Path group = (unified ? MOUNT : MOUNT.resolve("cpu"))
                .resolve("sidewarp-bench-" + ProcessHandle.current().pid() + "-" + name);
        long quota = Math.round(processors * PERIOD_MICROS);
        try {
            if (unified) {
                Files.writeString(MOUNT.resolve("cgroup.subtree_control"), "+cpu");
            }
            Files.createDirectory(group);
            Children.adopt(group, () -> Files.deleteIfExists(group));
            if (unified) {
                Files.writeString(group.resolve("cpu.max"), quota + " " + PERIOD_MICROS);
            } else {
                Files.writeString(group.resolve("cpu.cfs_period_us"), String.valueOf(PERIOD_MICROS));
                Files.writeString(group.resolve("cpu.cfs_quota_us"), String.valueOf(quota));
            }
            return new CpuQuota(group);
        } catch (IOException e) {
            throw new Failure(
                    ExitCode.UNAVAILABLE,
                    "a quota of processor time takes a control group, which cannot be made here (" + e
                            + "): run as root, with /sys/fs/cgroup writable",
                    e);
        }
    }

    /** Returns the file to which joining processes write their numbers. */
    Path members() {
        return group.resolve("cgroup.procs");
    }

    /** Returns the use of the quota since the group was made. */
    public Use use() {
        try {
            return Use.parse(Files.readAllLines(group.resolve("cpu.stat")));
        } catch (IOException e) {
            throw new Failure(ExitCode.IO_ERROR, "cannot read " + group + "/cpu.stat: " + e.getMessage(), e);
        }
    }

    /** Removes the group after its processes are gone. The processes have to be ending already. */
    @Override
    public void close() {
        IOException failure = null;
        for (int attempt = 0; attempt < REMOVALS; attempt++) {
            try {
                Children.remove(group);
                return;
            } catch (IOException e) {
                failure = e;
                LockSupport.parkNanos(REMOVAL_PAUSE_NANOS);
            }
        }
        throw new Failure(ExitCode.IO_ERROR, "cannot remove " + group + ": " + failure, failure);
    }
}
