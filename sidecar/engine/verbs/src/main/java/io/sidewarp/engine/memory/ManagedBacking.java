// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.memory.RegionException.Reason;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Private memory of this process, outside the heap. The JVM does not count it as direct memory, so MaxDirectMemorySize
 * does not limit it. The caller has to limit the memory.
 */
public final class ManagedBacking implements MappedBacking {

    private static final long ALIGNMENT = 64;

    private final Arena arena;
    private final MemorySegment segment;

    private ManagedBacking(Arena arena, MemorySegment segment) {
        this.arena = arena;
        this.segment = segment;
    }

    /**
     * Allocates zeroed memory. Zeroing also touches every page of the memory.
     *
     * @param length bytes, at least 1
     * @throws RegionException OUT_OF_BOUNDS for a length below 1, NO_SPACE when no memory is left
     */
    public static ManagedBacking allocate(long length) {
        if (length < 1) {
            throw new RegionException(
                    Reason.OUT_OF_BOUNDS, "a managed region needs a length of at least 1, not " + length);
        }
        Arena arena = Arena.ofShared();
        try {
            return new ManagedBacking(arena, arena.allocate(length, ALIGNMENT));
        } catch (OutOfMemoryError | IllegalArgumentException e) {
            arena.close();
            throw new RegionException(
                    Reason.NO_SPACE,
                    "no memory for a managed region of " + length
                            + " bytes; register less, or raise the memory limit of the process or its container",
                    e);
        }
    }

    @Override
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public String path() {
        return "";
    }

    @Override
    public boolean verify() {
        return segment.scope().isAlive();
    }

    @Override
    public synchronized void close() {
        if (segment.scope().isAlive()) {
            arena.close();
        }
    }
}
