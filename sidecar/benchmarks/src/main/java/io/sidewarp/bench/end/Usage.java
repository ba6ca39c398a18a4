// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import com.sun.management.ThreadMXBean;
import io.sidewarp.cli.perf.ProcessCpu;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Resources that this process has used so far.
 *
 * @param cpuNanos user and system time of all threads, in steps of 10 ms
 * @param allocatedOctets bytes of heap that all threads have allocated, including ended threads
 * @param collections number of garbage collections
 * @param collectionMillis time in garbage collections
 */
public record Usage(long cpuNanos, long allocatedOctets, long collections, long collectionMillis) {

    /** Returns the usage up to now. */
    public static Usage now() {
        long collections = 0;
        long millis = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += Math.max(0, collector.getCollectionCount());
            millis += Math.max(0, collector.getCollectionTime());
        }
        long allocated = ManagementFactory.getPlatformMXBean(ThreadMXBean.class).getTotalThreadAllocatedBytes();
        return new Usage(ProcessCpu.own().nanos().orElse(0), allocated, collections, millis);
    }

    /** Returns the usage between an earlier time and this one. */
    public Usage since(Usage earlier) {
        return new Usage(
                cpuNanos - earlier.cpuNanos,
                allocatedOctets - earlier.allocatedOctets,
                collections - earlier.collections,
                collectionMillis - earlier.collectionMillis);
    }

    /** Returns the resident bytes of a process, or 0 if it does not exist. */
    public static long residentOctets(long pid) {
        try {
            return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
                    .filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            return 0;
        }
    }
}
