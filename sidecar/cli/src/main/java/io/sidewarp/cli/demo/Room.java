// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where the shared volumes go, and how much of a file fits into memory at each side.
 *
 * @param base directory for the volumes
 * @param window octets of the region at each side, at least one page
 */
record Room(Path base, long window) {

    private static final Path MEMORY_BACKED = Path.of("/dev/shm");

    /** Left to everything else. */
    private static final long RESERVE = 192L << 20;

    private static final long LEAST = 64L << 20;
    private static final long STEP = 1L << 20;

    /** Chooses for a file of a given size. */
    static Room choose(long size) throws IOException {
        if (Files.isWritable(MEMORY_BACKED)) {
            long room = Math.min(usable(MEMORY_BACKED), availableMemory());
            if (perSide(room) >= LEAST) {
                return new Room(MEMORY_BACKED, window(size, room));
            }
        }
        Path temporary = Path.of(System.getProperty("java.io.tmpdir"));
        return new Room(temporary, window(size, Math.min(usable(temporary), availableMemory())));
    }

    /** The whole file when it fits into each side's half of the room, else as many MiB as do. */
    static long window(long size, long room) {
        long most = Math.max(perSide(room), LEAST);
        return size <= most ? Math.max(size, 1) : most / STEP * STEP;
    }

    private static long perSide(long room) {
        return (room - RESERVE) / 2;
    }

    private static long usable(Path directory) throws IOException {
        return Files.getFileStore(directory).getUsableSpace();
    }

    /** Octets that can be had without swapping, as the kernel estimates. */
    private static long availableMemory() throws IOException {
        Path meminfo = Path.of("/proc/meminfo");
        if (!Files.isReadable(meminfo)) {
            return Long.MAX_VALUE;
        }
        return Files.readAllLines(meminfo, StandardCharsets.US_ASCII).stream()
                .filter(line -> line.startsWith("MemAvailable:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                .findFirst()
                .orElse(Long.MAX_VALUE);
    }
}
