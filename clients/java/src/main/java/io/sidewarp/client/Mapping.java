// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * A part of a file, mapped in this process. Thread-safe.
 *
 * <p>A region of a new session can share the mapping of the region that it replaces. Both must have the same part of
 * the same file. Segments then stay valid, and pages are not charged twice.
 */
final class Mapping {

    private final Arena arena;
    private final MemorySegment segment;
    private final Object file;
    private final long offset;

    /** Number of regions that use the mapping; 0 after the last release. Guarded by this. */
    private int users = 1;

    private Mapping(Arena arena, MemorySegment segment, Object file, long offset) {
        this.arena = arena;
        this.segment = segment;
        this.file = file;
        this.offset = offset;
    }

    /**
     * Maps whole pages, up to the end of the file, because the kernel does not unmap a part of a huge page.
     *
     * @param offset begin of the part in the file
     * @param length bytes
     * @param page bytes in a page of the volume
     */
    static Mapping of(Path file, long offset, long length, long page) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment pages = map(file, offset, length, page, arena);
            // The sidecar has already allocated the pages. Mapping them now in groups is faster than one by one at the
            // first access.
            pages.load();
            return new Mapping(arena, pages.asSlice(0, length), key(file), offset);
        } catch (InternalError e) {
            arena.close();
            throw new IOException(file + " was truncated meanwhile", e);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    private static Object key(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    private static MemorySegment map(Path file, long offset, long length, long page, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            long octets = octets(file, channel.size(), offset, length, page);
            return channel.map(FileChannel.MapMode.READ_WRITE, offset, octets, arena);
        } catch (AccessDeniedException e) {
            // Read-only access is enough for the source of Writes, Sends and remote Reads.
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                long octets = octets(file, channel.size(), offset, length, page);
                return channel.map(FileChannel.MapMode.READ_ONLY, offset, octets, arena);
            }
        }
    }

    /**
     * Returns the number of bytes to map. A writable mapping would silently extend a shorter file, which is then not
     * the file that the sidecar mapped.
     */
    private static long octets(Path file, long size, long offset, long length, long page) throws IOException {
        if (size - offset < length) {
            throw new IOException(file + " has " + size + " bytes, and the region needs " + length + " at " + offset
                    + "; check that this is the volume that the sidecar mounts");
        }
        return Math.min(Math.ceilDiv(length, page) * page, size - offset);
    }

    MemorySegment segment() {
        return segment;
    }

    /** Returns whether a path leads to the mapped file. */
    boolean isOf(Path path) {
        try {
            return file.equals(key(path));
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Lets another region use the mapping. Returns false if that region has another part, or if the mapping is removed.
     */
    synchronized boolean share(long wantedOffset, long wantedLength) {
        if (users == 0 || offset != wantedOffset || segment.byteSize() != wantedLength) {
            return false;
        }
        users++;
        return true;
    }

    /**
     * Ends the use by one region, and unmaps after the last use.
     *
     * @throws IllegalStateException while I/O of another thread uses the memory; the region then still uses the mapping
     */
    synchronized void release() {
        if (users == 1) {
            arena.close();
        }
        users--;
    }
}
