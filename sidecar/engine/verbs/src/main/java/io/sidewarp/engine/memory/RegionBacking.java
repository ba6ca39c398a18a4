// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.lang.foreign.MemorySegment;

/** Memory of a region. */
public sealed interface RegionBacking extends AutoCloseable
        permits SharedBacking, ManagedBacking, DeviceRegions.RegisteredBacking {

    /** All of the memory, accessible from every thread until {@link #close()}. */
    MemorySegment segment();

    /** Length in bytes. */
    default long length() {
        return segment().byteSize();
    }

    /** Path in the shared volume, or empty for managed memory. */
    String path();

    /**
     * Returns whether the memory still backs the mapping. Returns false once a shared file has become too short,
     * because an access to the missing part would fail. Asks the operating system; not for the data path.
     */
    boolean verify();

    /** Leaves a file that the region took over to the next region, with its content, when the backing is closed. */
    default void keepContent() {}

    /**
     * Unmaps or frees the memory. Has no effect when the backing is closed already.
     *
     * @throws IllegalStateException while a system call on another thread uses the memory; try again later
     */
    @Override
    void close();
}
