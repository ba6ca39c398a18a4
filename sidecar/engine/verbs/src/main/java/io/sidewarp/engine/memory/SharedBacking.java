// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.linux.LinuxErrno;
import io.sidewarp.engine.memory.RegionException.Reason;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A mapped part of a file in a shared volume. The application maps the same pages. Created by {@link SharedVolume}.
 */
public final class SharedBacking implements MappedBacking {

    private final String path;
    private final int file;
    private final long end;
    private final @Nullable CreatedFile created;
    private final Arena arena;
    private final MemorySegment segment;
    private boolean keepsContent;
    private boolean closed;

    /**
     * Takes over a descriptor and maps the file.
     *
     * @param created the file to remove afterwards, or null
     * @throws RegionException NO_SPACE or IO; the caller then still owns the descriptor
     */
    SharedBacking(SharedVolume.Part part, int file, @Nullable CreatedFile created) {
        this.path = part.path();
        this.file = file;
        long length = part.length();
        this.end = part.offset() + length;
        this.created = created;
        long octets = SharedVolume.wholePages(length, part.page());
        long address = LinuxFiles.map(file, part.offset(), octets);
        if (address < 0 && address > -4096) {
            throw mapFailure((int) -address, length);
        }
        this.arena = Arena.ofShared();
        this.segment = MemorySegment.ofAddress(address)
                .reinterpret(length, arena, mapping -> LinuxFiles.unmap(mapping.address(), octets));
    }

    @Override
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public String path() {
        return path;
    }

    /** Returns whether the file existed before, so that it has content. */
    public boolean existed() {
        return created == null || created.existed();
    }

    @Override
    public synchronized boolean verify() {
        if (closed) {
            return false;
        }
        try {
            return LinuxFiles.stat(file).length() >= end;
        } catch (LinuxFiles.ErrnoException e) {
            return false;
        }
    }

    /**
     * Gives the file to a user and a group, unless the user owns the file already. Only root or a process with
     * CAP_CHOWN may do that. Without these rights the file keeps its owner.
     *
     * @param user number of the user, unsigned
     * @param group number of the group, unsigned
     * @return whether the user owns the file now
     */
    public synchronized boolean giveTo(long user, long group) {
        if (closed) {
            return false;
        }
        try {
            return LinuxFiles.stat(file).owner() == user || LinuxFiles.changeOwner(file, (int) user, (int) group) == 0;
        } catch (LinuxFiles.ErrnoException e) {
            return false;
        }
    }

    @Override
    public synchronized void keepContent() {
        keepsContent = true;
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        arena.close();
        closed = true;
        if (created != null) {
            if (keepsContent && created.existed()) {
                created.giveBack();
            } else {
                created.remove();
            }
        }
        LinuxFiles.close(file);
    }

    /** Undoes only the mapping after a failed preparation. The caller still owns the descriptors and the file. */
    synchronized void unmap() {
        arena.close();
        closed = true;
    }

    private RegionException mapFailure(int errno, long length) {
        return errno == LinuxErrno.ENOMEM
                ? new RegionException(
                        Reason.NO_SPACE,
                        "no address space to map " + length + " bytes of " + path
                                + "; register less, or raise vm.max_map_count where there are many regions")
                : new RegionException(
                        Reason.IO,
                        "cannot map " + length + " bytes of " + path + " (error " + errno
                                + "); put it on a file system that supports shared mappings, such as tmpfs");
    }

    /**
     * A file that is removed with its region.
     *
     * @param directory directory of the file, which stays open as long as the region exists
     * @param existed whether the region took the file over
     */
    record CreatedFile(CreatedFiles files, int directory, String name, FileRecords.Created created, boolean existed) {

        void remove() {
            files.remove(directory, name, created);
            LinuxFiles.close(directory);
        }

        /** Leaves the file to the next region that takes it over. */
        void giveBack() {
            files.giveBack(created);
            LinuxFiles.close(directory);
        }
    }
}
