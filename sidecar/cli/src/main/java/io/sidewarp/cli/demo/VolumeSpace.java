// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.Sizes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Finds a directory for the shared volumes, and decides how much of a file fits into memory at each side. */
final class VolumeSpace {

    private static final Path MEMORY_BACKED = Path.of("/dev/shm");

    /** Bytes that are left to everything else. */
    private static final long RESERVE = 192L << 20;

    private static final long LEAST = 64L << 20;
    private static final long STEP = 1L << 20;

    private VolumeSpace() {}

    /**
     * Returns the default directory for the volumes: one in memory if it has enough room, else the temporary directory.
     */
    static Path directory() throws IOException {
        boolean inMemory =
                Files.isWritable(MEMORY_BACKED) && perSide(Math.min(usable(MEMORY_BACKED), availableMemory())) >= LEAST;
        return inMemory ? MEMORY_BACKED : Path.of(System.getProperty("java.io.tmpdir"));
    }

    /**
     * Returns the bytes of the region at each side for a file of a given size.
     *
     * @throws Failure when the directory has no room for two such regions
     */
    static long window(Path directory, long size) throws IOException {
        long usable = usable(directory);
        long window = window(size, Math.min(usable, availableMemory()));
        if (window > usable / 2) {
            throw new Failure(
                    ExitCode.NO_RESOURCES,
                    directory + " has room for " + Sizes.format(usable) + ", but each of two sides needs "
                            + Sizes.format(window) + ": use a smaller --window, or another --dir");
        }
        return window;
    }

    /** Returns the whole file's size if it fits into half of the room. Otherwise returns as many whole MiB as fit. */
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

    /** Returns the bytes that are available without swapping, by the kernel's estimate. */
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
