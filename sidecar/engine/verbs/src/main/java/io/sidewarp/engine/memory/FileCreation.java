// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.linux.LinuxErrno;
import io.sidewarp.engine.memory.CreatedFiles.Found;
import io.sidewarp.engine.memory.FileRecords.Created;
import io.sidewarp.engine.memory.LinuxFiles.ErrnoException;
import io.sidewarp.engine.memory.RegionException.Reason;
import io.sidewarp.engine.memory.SharedVolume.Holder;
import io.sidewarp.engine.memory.SharedVolume.Part;
import java.util.function.IntSupplier;

/** Creates files of a shared volume, and takes over the files of sidecars that no longer run. Thread-safe. */
final class FileCreation {

    private static final int MODE = 0660;

    private final CreatedFiles files;

    FileCreation(CreatedFiles files) {
        this.files = files;
    }

    /**
     * Creates a file or takes it over, and maps a part of the file.
     *
     * @param directory directory of the file; on success the backing takes over the descriptor
     * @param mode mode that creates
     */
    SharedBacking create(Part part, int directory, String name, RegionFileMode mode, Holder holder) {
        Found found = files.find(directory, name);
        if (found instanceof Found.Orphan orphan && orphan.of().user() == holder.user()) {
            if (mode == RegionFileMode.OPEN_OR_CREATE) {
                return takeOver(part, directory, name, orphan, holder);
            }
            if (mode == RegionFileMode.REPLACE && !files.remove(orphan.identity(), orphan.of())) {
                throw inUse(part.path());
            }
        }
        return createNew(part, directory, name, holder);
    }

    private SharedBacking createNew(Part part, int directory, String name, Holder holder) {
        Created[] created = new Created[1];
        int file = withRoom(() -> {
            created[0] = files.create(directory, name, part.path(), holder);
            return created[0].file();
        });
        if (file == -LinuxErrno.EEXIST) {
            throw exists(part.path(), files.find(directory, name), holder);
        }
        if (file < 0) {
            throw SharedVolume.failure(-file, part.path(), directory, name);
        }
        try {
            // The umask may have removed bits that the application's group needs.
            int result = LinuxFiles.changeMode(file, MODE);
            if (result == 0) {
                result = withRoom(() -> LinuxFiles.extend(file, part.offset(), part.octetsToCreate()));
            }
            if (result < 0) {
                throw SharedVolume.failure(-result, part.path(), directory, name);
            }
            return SharedVolume.map(
                    part, file, new SharedBacking.CreatedFile(files, directory, name, created[0], false));
        } catch (RuntimeException | Error e) {
            files.remove(directory, name, created[0]);
            LinuxFiles.close(file);
            throw e;
        }
    }

    private SharedBacking takeOver(Part part, int directory, String name, Found.Orphan orphan, Holder holder) {
        int file = LinuxFiles.openFile(directory, name);
        if (file < 0) {
            throw SharedVolume.failure(-file, part.path(), directory, name);
        }
        boolean taken = false;
        boolean done = false;
        try {
            taken = files.take(file, orphan, holder);
            if (!taken) {
                throw inUse(part.path());
            }
            long length = LinuxFiles.stat(file).length();
            int result = withRoom(() -> length >= part.offset() + part.length()
                    ? LinuxFiles.reserve(file, part.offset(), part.length())
                    : LinuxFiles.extend(file, part.offset(), part.octetsToCreate()));
            if (result < 0) {
                throw SharedVolume.failure(-result, part.path(), directory, name);
            }
            Created created = new Created(file, orphan.of());
            SharedBacking backing =
                    SharedVolume.map(part, file, new SharedBacking.CreatedFile(files, directory, name, created, true));
            done = true;
            return backing;
        } catch (ErrnoException e) {
            throw SharedVolume.failure(e.errno(), part.path(), directory, name);
        } finally {
            if (!done) {
                if (taken) {
                    files.giveBack(orphan);
                }
                LinuxFiles.close(file);
            }
        }
    }

    /** Repeats a call that fails for lack of room, while an orphan can be removed to make room. */
    int withRoom(IntSupplier call) {
        int result = call.getAsInt();
        while (isLackOfRoom(result) && files.makeRoom()) {
            result = call.getAsInt();
        }
        return result;
    }

    private static boolean isLackOfRoom(int result) {
        return result == -LinuxErrno.ENOSPC || result == -LinuxErrno.EDQUOT || result == -LinuxErrno.ENOMEM;
    }

    private static RegionException inUse(String path) {
        return exists(path, "a region that did not create it uses it; deregister that region, or choose another name");
    }

    private static RegionException exists(String path, Found found, Holder holder) {
        return exists(
                path,
                switch (found) {
                    case Found.Held(Holder other) ->
                        other.user() == holder.user()
                                ? other.region() + " created it; deregister that region first, or choose another name"
                                : "a region of another user created it; choose another name";
                    case Found.Orphan(var ignored, FileRecords.Entry record) ->
                        record.user() == holder.user()
                                ? "a sidecar that is gone created it; take it over with its content (open-or-create),"
                                        + " begin anew (replace), or choose another name"
                                : "a sidecar that is gone created it for another user; choose another name";
                    case Found.Foreign() ->
                        "it is the application's own file; register it without creation, remove it, or choose another"
                                + " name";
                    case Found.Missing() -> "it was removed meanwhile; ask again";
                });
    }

    private static RegionException exists(String path, String holder) {
        return new RegionException(Reason.ALREADY_EXISTS, path + " exists already: " + holder);
    }
}
