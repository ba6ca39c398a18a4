// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.linux.LinuxErrno;
import io.sidewarp.engine.memory.FileRecords.Created;
import io.sidewarp.engine.memory.FileRecords.Entry;
import io.sidewarp.engine.memory.LinuxFiles.ErrnoException;
import io.sidewarp.engine.memory.LinuxFiles.Identity;
import io.sidewarp.engine.memory.SharedVolume.Holder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntSupplier;

/**
 * Files of a shared volume that sidecars created. Regions of this process created some of them. The others are orphans,
 * whose sidecars no longer run. Thread-safe.
 */
final class CreatedFiles {

    private final FileRecords records;

    /** Orphans that were neither taken over nor removed. Guarded by this. */
    private final Map<Identity, Entry> orphans = new LinkedHashMap<>();

    /** Files that regions of this process hold. Guarded by this. */
    private final Map<Identity, Holder> held = new LinkedHashMap<>();

    /** @param openRoot action that opens the volume, or throws {@link RegionException} */
    CreatedFiles(IntSupplier openRoot) {
        records = new FileRecords(openRoot);
    }

    /** Kinds of files that a name can stand for. */
    sealed interface Found {

        record Missing() implements Found {}

        /** A file that no sidecar created, or an object of another type. */
        record Foreign() implements Found {}

        record Held(Holder holder) implements Found {}

        record Orphan(Identity identity, Entry of) implements Found {}
    }

    /**
     * Reads the records of earlier sidecars.
     *
     * @return reason why the volume cannot hold records; empty when it can
     */
    synchronized Optional<String> load() {
        orphans.putAll(records.read());
        return records.problem();
    }

    /** Returns the kind of file that a name in a directory of the volume stands for. */
    synchronized Found find(int directory, String name) {
        try {
            Identity identity = LinuxFiles.stat(directory, name).identity();
            Holder holder = held.get(identity);
            if (holder != null) {
                return new Found.Held(holder);
            }
            Entry orphan = orphans.get(identity);
            return orphan == null ? new Found.Foreign() : new Found.Orphan(identity, orphan);
        } catch (ErrnoException e) {
            return e.errno() == LinuxErrno.ENOENT ? new Found.Missing() : new Found.Foreign();
        }
    }

    /** Creates a file with its record, as {@link FileRecords#create} does. */
    synchronized Created create(int directory, String name, String path, Holder holder) {
        Created created = records.create(directory, name, path, holder.user());
        if (created.file() >= 0) {
            // Without an identity, messages cannot name the holder.
            LinuxFiles.identity(created.file()).ifPresent(identity -> held.put(identity, holder));
        }
        return created;
    }

    /**
     * Takes over an orphan whose file was opened.
     *
     * @return false when the open file is a different file, or when a region that did not create the orphan uses it
     */
    synchronized boolean take(int file, Found.Orphan orphan, Holder holder) {
        if (!LinuxFiles.identity(file).equals(Optional.of(orphan.identity()))
                || !orphans.containsKey(orphan.identity())
                || !LinuxFiles.lock(file, true)) {
            return false;
        }
        // Otherwise another sidecar has removed the orphan, and the open file has its inode number.
        boolean own = records.isRecordOf(orphan.of(), orphan.identity());
        orphans.remove(orphan.identity());
        if (own) {
            held.put(orphan.identity(), holder);
        }
        return own;
    }

    /** Undoes {@link #take}. Closing the descriptor releases the lock. */
    synchronized void giveBack(Found.Orphan orphan) {
        held.remove(orphan.identity());
        orphans.put(orphan.identity(), orphan.of());
    }

    /** Makes a file that a region took over an orphan again. Closing the descriptor releases the lock. */
    synchronized void giveBack(Created created) {
        Entry record = created.of();
        if (record != null) {
            // Without an identity, the next sidecar finds the record.
            LinuxFiles.identity(created.file()).ifPresent(identity -> giveBack(new Found.Orphan(identity, record)));
        }
    }

    /** Keeps an orphan in the volume while a region that did not create it has it open. */
    synchronized void keep(int file) {
        if (LinuxFiles.identity(file).filter(orphans::containsKey).isPresent()) {
            LinuxFiles.lock(file, false);
        }
    }

    /** Removes a file that this process created or took over. Keeps the name if it now belongs to another file. */
    synchronized void remove(int directory, String name, Created created) {
        LinuxFiles.identity(created.file()).ifPresent(identity -> {
            held.remove(identity);
            // The application may have removed the name first.
            if (LinuxFiles.isFile(directory, name, identity)) {
                LinuxFiles.unlink(directory, name);
            }
        });
        if (created.of() != null) {
            try {
                records.drop(created.of());
            } catch (RegionException e) {
                // The next sidecar drops the record.
            }
        }
    }

    /** Removes an orphan. Returns false while a region uses the orphan. */
    synchronized boolean remove(Identity identity, Entry orphan) {
        if (orphans.containsKey(identity) && records.removeUnused(orphan, identity)) {
            orphans.remove(identity);
        }
        return !orphans.containsKey(identity);
    }

    /**
     * Removes the orphans that no region uses.
     *
     * @return number of orphans that are left
     */
    synchronized int removeOrphans() {
        Map.copyOf(orphans).forEach(this::remove);
        return orphans.size();
    }

    /** Removes one orphan, preferably an orphan without a name. Returns false when no orphan can be removed. */
    synchronized boolean makeRoom() {
        return removeFirst(true) || removeFirst(false);
    }

    private boolean removeFirst(boolean nameless) {
        for (Map.Entry<Identity, Entry> orphan : List.copyOf(orphans.entrySet())) {
            boolean fits = !nameless || !records.isNamed(orphan.getValue(), orphan.getKey());
            if (fits && remove(orphan.getKey(), orphan.getValue())) {
                return true;
            }
        }
        return false;
    }
}
