// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.memory.RegionException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;

/**
 * All memory of another process, through a descriptor of its {@code /proc/self/mem} that the process opened itself. The
 * descriptor works across user, PID and mount namespaces and is never opened again here. It stays open until the owner
 * and all {@link ProcessBacking backings} have closed it. Thread-safe.
 */
public final class ProcessMemory implements AutoCloseable {

    private static final LongAdder STALLS = new LongAdder();

    private final int descriptor;
    /** Number of backings, plus 1 for the owner. */
    private int references = 1;

    private boolean closed;

    private ProcessMemory(int descriptor) {
        this.descriptor = descriptor;
    }

    /**
     * Takes over a descriptor, and closes the descriptor if it is refused.
     *
     * @throws RegionException NOT_PROCESS_MEMORY when the descriptor is not of {@code /proc/self/mem}, or not open for
     *     reading and writing
     */
    public static ProcessMemory takeOver(int descriptor) {
        try {
            check(descriptor);
        } catch (RegionException e) {
            LinuxFiles.close(descriptor);
            throw e;
        }
        return new ProcessMemory(descriptor);
    }

    private static void check(int descriptor) {
        String name = name(descriptor);
        if (!LinuxFiles.isProc(descriptor) || !name.endsWith("/mem")) {
            throw refusal("the descriptor is of " + name);
        }
        if (!LinuxFiles.isReadWrite(descriptor)) {
            throw refusal("the descriptor of " + name + " is not open for reading and writing");
        }
    }

    private static RegionException refusal(String what) {
        return new RegionException(
                Reason.NOT_PROCESS_MEMORY,
                what + "; pass one of /proc/self/mem, opened with O_RDWR by the process itself");
    }

    private static String name(int descriptor) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor))
                    .toString();
        } catch (IOException e) {
            return "an unknown file";
        }
    }

    /** Returns the number of transfers of all processes that took longer than 10 ms. They held up an event loop. */
    public static long stalls() {
        return STALLS.sum();
    }

    static void countStall() {
        STALLS.increment();
    }

    /** Returns the descriptor, which is open while the caller has a reference. */
    int descriptor() {
        return descriptor;
    }

    /**
     * Adds a reference for a backing.
     *
     * @throws IllegalStateException when the owner has closed the memory
     */
    synchronized void retain() {
        if (closed) {
            throw new IllegalStateException("the memory of the process was closed");
        }
        references++;
    }

    synchronized void release() {
        if (--references == 0) {
            LinuxFiles.close(descriptor);
        }
    }

    /** Gives up the owner's reference. Existing backings stay usable; no new backing can be made. Idempotent. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            release();
        }
    }
}
