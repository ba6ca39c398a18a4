// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A mapped part of a file in a shared volume: the same pages that the application maps. Made by {@link SharedVolume}.
 */
public final class SharedBacking implements RegionBacking {

    private final String path;
    private final int file;
    private final long end;
    private final @Nullable CreatedFile created;
    private final Arena arena;
    private final MemorySegment segment;
    private boolean closed;

    /**
     * Takes over a descriptor, and maps the file.
     *
     * @param page octets in a page of the file: a mapping has whole ones
     * @param created how to remove the file afterwards, or null
     * @throws RegionException NO_SPACE or IO; the descriptor is still the caller's then
     */
    SharedBacking(String path, int file, long offset, long length, long page, @Nullable CreatedFile created) {
        this.path = path;
        this.file = file;
        this.end = offset + length;
        this.created = created;
        long octets = SharedVolume.wholePages(length, page);
        long address = LinuxFiles.map(file, offset, octets);
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

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        arena.close();
        closed = true;
        if (created != null) {
            created.remove(file);
        }
        LinuxFiles.close(file);
    }

    /** Undoes the mapping only, when preparation failed: descriptors and file are still the caller's. */
    synchronized void unmap() {
        arena.close();
        closed = true;
    }

    private RegionException mapFailure(int errno, long length) {
        return errno == LinuxFiles.ENOMEM
                ? new RegionException(
                        RegionException.Reason.NO_SPACE,
                        "no address space to map " + length + " octets of " + path
                                + "; register less, or raise vm.max_map_count where there are many regions")
                : new RegionException(
                        RegionException.Reason.IO,
                        "cannot map " + length + " octets of " + path + " (error " + errno
                                + "); put it on a file system that supports shared mappings, such as tmpfs");
    }

    /** A file that goes away with its region: its directory, held open, and its name there. */
    record CreatedFile(int directory, String name) {

        /** Removes the file, unless the name stands for another one by now. */
        void remove(int file) {
            try {
                if (LinuxFiles.stat(directory, name).isSameFile(LinuxFiles.stat(file))) {
                    LinuxFiles.unlink(directory, name);
                }
            } catch (LinuxFiles.ErrnoException e) {
                // The application removed it first.
            } finally {
                LinuxFiles.close(directory);
            }
        }
    }
}
