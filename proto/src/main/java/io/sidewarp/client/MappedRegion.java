// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

/** A shared region and its mapping in this process. */
final class MappedRegion extends RegisteredRegion implements SharedRegion {

    private final Mapping mapping;

    /** Guarded by this. */
    private boolean unmapped;

    /** @param mapping is released by the region */
    MappedRegion(Regions regions, io.sidewarp.v1.Region region, Mapping mapping) {
        super(regions, region);
        this.mapping = mapping;
    }

    Mapping mapping() {
        return mapping;
    }

    @Override
    public String path() {
        return region().getPath();
    }

    @Override
    public boolean fileExisted() {
        return region().getFileExisted();
    }

    @Override
    public MemorySegment segment() {
        return mapping.segment();
    }

    @Override
    public ByteBuffer buffer() {
        if (length() > Integer.MAX_VALUE) {
            throw new UnsupportedOperationException("a ByteBuffer holds at most " + Integer.MAX_VALUE
                    + " octets and this region has " + length() + ": use segment(), or buffer(offset, octets)");
        }
        return segment().asByteBuffer();
    }

    @Override
    public ByteBuffer buffer(long offset, int octets) {
        Objects.checkFromIndexSize(offset, octets, length());
        return segment().asSlice(offset, octets).asByteBuffer();
    }

    @Override
    public void close() {
        try {
            deregister();
        } finally {
            unmap();
        }
    }

    /**
     * Undoes the mapping, unless that is done, or a later region uses it.
     *
     * @throws IllegalStateException while I/O of another thread uses the memory
     */
    synchronized void unmap() {
        if (unmapped) {
            return;
        }
        try {
            mapping.release();
        } catch (IllegalStateException e) {
            throw new IllegalStateException(
                    this + " is still mapped, because I/O of another thread uses its memory: close it again when that"
                            + " has ended",
                    e);
        }
        unmapped = true;
        regions().unmapped(this);
    }

    @Override
    public String toString() {
        return "SharedRegion[" + id() + ", " + path() + ", " + length() + " octets]";
    }
}
