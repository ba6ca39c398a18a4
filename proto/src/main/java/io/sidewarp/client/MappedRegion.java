// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/** A shared region and its mapping in this process. */
final class MappedRegion extends RegisteredRegion implements SharedRegion {

    private final Arena arena;
    private final MemorySegment segment;

    private MappedRegion(Regions regions, io.sidewarp.v1.Region region, Arena arena, MemorySegment segment) {
        super(regions, region);
        this.arena = arena;
        this.segment = segment;
    }

    /**
     * Maps whole pages, as far as the file goes: huge ones are not unmapped else.
     *
     * @param offset where the region begins in the file
     * @param page octets in a page of the volume
     */
    static MappedRegion map(Regions regions, io.sidewarp.v1.Region region, long offset, Path file, long page)
            throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment pages = map(file, offset, region.getLength(), page, arena);
            // The sidecar gave the pages their memory: mapped in groups now, not one by one when they are touched
            // first.
            pages.load();
            return new MappedRegion(regions, region, arena, pages.asSlice(0, region.getLength()));
        } catch (InternalError e) {
            arena.close();
            throw new IOException(file + " was truncated meanwhile", e);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    private static MemorySegment map(Path file, long offset, long length, long page, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long octets = octets(file, channel.size(), offset, length, page);
            return channel.map(FileChannel.MapMode.READ_WRITE, offset, octets, arena);
        } catch (AccessDeniedException e) {
            // A file that this process may only read serves as the source of Writes, Sends and remote Reads.
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                long octets = octets(file, channel.size(), offset, length, page);
                return channel.map(FileChannel.MapMode.READ_ONLY, offset, octets, arena);
            }
        }
    }

    /** To be mapped. That for writing would silently extend a shorter file, which is then not the one that the sidecar mapped. */
    private static long octets(Path file, long size, long offset, long length, long page) throws IOException {
        if (size - offset < length) {
            throw new IOException(file + " has " + size + " octets, and the region wants " + length + " at " + offset
                    + "; is this the volume that the sidecar mounts?");
        }
        return Math.min(Math.ceilDiv(length, page) * page, size - offset);
    }

    @Override
    public String path() {
        return region().getPath();
    }

    @Override
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public ByteBuffer buffer() {
        if (length() > Integer.MAX_VALUE) {
            throw new UnsupportedOperationException("a ByteBuffer holds at most " + Integer.MAX_VALUE
                    + " octets and this region has " + length() + ": use segment(), or buffer(offset, octets)");
        }
        return segment.asByteBuffer();
    }

    @Override
    public ByteBuffer buffer(long offset, int octets) {
        Objects.checkFromIndexSize(offset, octets, length());
        return segment.asSlice(offset, octets).asByteBuffer();
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
     * Undoes the mapping, unless that is done.
     *
     * @throws IllegalStateException while I/O of another thread uses the memory
     */
    void unmap() {
        try {
            arena.close();
        } catch (IllegalStateException e) {
            if (arena.scope().isAlive()) {
                throw new IllegalStateException(
                        this
                                + " is still mapped, because I/O of another thread uses its memory: close it again when that"
                                + " has ended",
                        e);
            }
        }
        regions().unmapped(this);
    }

    @Override
    public String toString() {
        return "SharedRegion[" + id() + ", " + path() + ", " + length() + " octets]";
    }
}
