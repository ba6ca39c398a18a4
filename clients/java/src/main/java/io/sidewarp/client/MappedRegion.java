// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Status;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** A shared region and its mapping in this process. */
final class MappedRegion extends RegisteredRegion implements SharedRegion {

    private final Mapping mapping;

    /** Guarded by this. */
    private boolean unmapped;

    /**
     * Makes a region over a mapping.
     *
     * @param mapping mapping that the region releases
     */
    MappedRegion(Regions regions, RegionInfo region, Mapping mapping) {
        super(regions, region);
        this.mapping = mapping;
    }

    Mapping mapping() {
        return mapping;
    }

    /**
     * Returns the exception for a file that was registered and cannot be mapped in this process.
     *
     * @param path path of the file in the shared volume
     */
    static SidewarpException failure(String path, Exception cause) {
        if (cause instanceof ClosedByInterruptException) {
            return new SidewarpException(Status.Code.CANCELLED, "the waiting thread was interrupted", null, cause);
        }
        String head = "the sidecar registered \"" + path + "\", but this process cannot map it: ";
        if (cause instanceof AccessDeniedException denied) {
            return new SidewarpException(
                    Status.Code.PERMISSION_DENIED,
                    head + "permission denied for " + denied.getFile() + owner(Path.of(denied.getFile()))
                            + "; run as a member of the file's group, in a pod by fsGroup or supplementalGroups",
                    null,
                    cause);
        }
        return new SidewarpException(Status.Code.FAILED_PRECONDITION, head + cause.getMessage(), null, cause);
    }

    private static String owner(Path file) {
        try {
            int mode = (int) Files.getAttribute(file, "unix:mode");
            return ", which belongs to user %s and group %s and has mode %04o"
                    .formatted(
                            Files.getAttribute(file, "unix:uid"), Files.getAttribute(file, "unix:gid"), mode & 07777);
        } catch (IOException e) {
            return "";
        }
    }

    @Override
    public String path() {
        return region().path();
    }

    @Override
    public boolean fileExisted() {
        return region().fileExisted();
    }

    @Override
    public MemorySegment segment() {
        return mapping.segment();
    }

    @Override
    public ByteBuffer buffer() {
        if (length() > Integer.MAX_VALUE) {
            throw new UnsupportedOperationException("a ByteBuffer holds at most " + Integer.MAX_VALUE
                    + " bytes and this region has " + length() + ": use segment(), or buffer(offset, octets)");
        }
        return open().asByteBuffer();
    }

    @Override
    public ByteBuffer buffer(long offset, int octets) {
        Objects.checkFromIndexSize(offset, octets, length());
        return open().asSlice(offset, octets).asByteBuffer();
    }

    private synchronized MemorySegment open() {
        if (unmapped) {
            throw new IllegalStateException(this + " is closed and no longer mapped: create or open it again");
        }
        return mapping.segment();
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
     * Removes the mapping, unless the mapping is already removed or a later region uses it.
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
        regions().client().unmapped(this);
    }

    @Override
    public String toString() {
        return "SharedRegion[" + id() + ", " + path() + ", " + length() + " bytes]";
    }
}
