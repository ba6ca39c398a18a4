// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

/** Memory of a region. */
public sealed interface RegionBacking extends AutoCloseable permits MappedBacking, ProcessBacking {

    /** Length in bytes. */
    long length();

    /** Path in the shared volume, or empty for managed memory and for memory of another process. */
    String path();

    /**
     * Returns whether the memory is still there. Returns false once a shared file has become too short, because an
     * access to the missing part would fail. Asks the operating system; not for the data path.
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
