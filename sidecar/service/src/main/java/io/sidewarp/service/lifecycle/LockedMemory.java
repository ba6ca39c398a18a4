// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Limit of locked memory of this process (RLIMIT_MEMLOCK). A kernel device pins the memory of regions, which counts
 * against the limit.
 *
 * @param limit in bytes; {@link Long#MAX_VALUE} for none
 * @param mayExceed true if the process has CAP_IPC_LOCK; most drivers then ignore the limit, but siw does not
 */
record LockedMemory(long limit, boolean mayExceed) {

    private static final Pattern LIMIT = Pattern.compile("(?m)^Max locked memory +(\\d+|unlimited) ");
    private static final Pattern CAPABILITIES = Pattern.compile("(?m)^CapEff:\\s*([0-9a-f]+)$");
    private static final int CAP_IPC_LOCK = 14;
    private static final long SMALLEST_REGION = 4096;
    private static final String REMEDY = "; raise the container's or the service's limit of locked memory (ulimit -l,"
            + " LimitMEMLOCK of the container runtime)";

    /** Returns the limit of this process, or no limit if the system does not report one. */
    static LockedMemory ofThisProcess() {
        try {
            return parse(
                    Files.readString(Path.of("/proc/self/limits")), Files.readString(Path.of("/proc/self/status")));
        } catch (IOException e) {
            return new LockedMemory(Long.MAX_VALUE, false);
        }
    }

    /**
     * Reads the kernel's files.
     *
     * @param limits content of /proc/PID/limits
     * @param status content of /proc/PID/status
     */
    static LockedMemory parse(String limits, String status) {
        Matcher limit = LIMIT.matcher(limits);
        Matcher capabilities = CAPABILITIES.matcher(status);
        return new LockedMemory(
                limit.find() && !limit.group(1).equals("unlimited") ? Long.parseLong(limit.group(1)) : Long.MAX_VALUE,
                capabilities.find() && (Long.parseUnsignedLong(capabilities.group(1), 16) >> CAP_IPC_LOCK & 1) == 1);
    }

    /**
     * Returns the problem with the limit and its remedy; empty if there is none.
     *
     * @param registeredBytes bytes that a session may register, by sidewarp.limits.registered-octets
     * @throws StartFailedException if the limit is too small for any region
     */
    Optional<String> problem(long registeredBytes) {
        if (limit < SMALLEST_REGION && !mayExceed) {
            throw new StartFailedException(
                    "RDMA is to be carried out by the kernel (sidewarp.provider), which pins the memory of regions, but"
                            + " this process may lock " + limit + " bytes only, too few for any region" + REMEDY,
                    null);
        }
        return limit < registeredBytes
                ? Optional.of("the kernel pins the memory of regions, of which a session may register "
                        + registeredBytes
                        + " bytes (sidewarp.limits.registered-octets), but this process may lock " + limit + " bytes"
                        + REMEDY + ", or lower the setting"
                        + (mayExceed ? ". The process has CAP_IPC_LOCK, but siw heeds the limit all the same" : ""))
                : Optional.empty();
    }
}
