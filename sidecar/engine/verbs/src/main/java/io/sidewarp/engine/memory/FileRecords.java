// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.linux.LinuxErrno;
import io.sidewarp.engine.memory.LinuxFiles.ErrnoException;
import io.sidewarp.engine.memory.LinuxFiles.Identity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Records of the files that sidecars created in a shared volume.
 *
 * <p>A record is a second name (a hard link) of the file, in a directory that only the sidecar's user can enter. The
 * record's name is {@code .sidewarp/USER-NUMBER/PATH}, with the path encoded. The second name is created first, and the
 * file's own name is linked to it. Hence a file is never without a record. A file is removed only while its name and
 * its record are the same file. A file that an application creates later under that name is therefore safe. The
 * directory exists only while it has records.
 *
 * <p>A sidecar locks each file that it created. The kernel drops the lock when the process dies. Guarded by the lock of
 * {@link CreatedFiles}.
 */
final class FileRecords {

    /** Name of the directory in the volume. */
    static final String DIRECTORY = ".sidewarp";

    private static final int DIRECTORY_MODE = 0700;
    private static final int FILE_MODE = 0660;

    /** Characters of an encoded path in one name. A longer path takes several directories. */
    private static final int PIECE = 200;

    /** Attempts to create a file, because another sidecar in the volume may remove the empty directory meanwhile. */
    private static final int ATTEMPTS = 8;

    private final IntSupplier openRoot;
    private long nextNumber;

    /** @param openRoot action that opens the volume, or throws {@link RegionException} */
    FileRecords(IntSupplier openRoot) {
        this.openRoot = openRoot;
    }

    /**
     * A record of a created file.
     *
     * @param user number of the user for whom the file was created
     * @param path path of the file in the volume
     * @param place path of the second name in the directory of records
     */
    record Entry(long user, String path, String place) {}

    /**
     * A created file.
     *
     * @param file descriptor of the file, or the negative error number
     * @param of record of the file, or null where the volume does not permit records
     */
    record Created(int file, @Nullable Entry of) {}

    /** Returns the reason why the volume does not permit records, or empty when it does. */
    Optional<String> problem() {
        int result = inDirectory(records -> 0);
        return result == 0
                ? Optional.empty()
                : Optional.of("the directory " + DIRECTORY + " in the shared volume cannot be used (error " + -result
                        + "); let the sidecar's user create it, with mode 0700");
    }

    /**
     * Reads the existing records. Drops the records of files that lost their names, because the application removed
     * them.
     */
    Map<Identity, Entry> read() {
        Map<Identity, Entry> found = new LinkedHashMap<>();
        inDirectory(records -> {
            for (String entry : children(records)) {
                read(records, entry)
                        .ifPresent(record -> LinuxFiles.identity(records, record.place())
                                .ifPresent(identity -> {
                                    if (isNamed(record, identity)) {
                                        found.put(identity, record);
                                    } else {
                                        removeUnused(records, record, identity);
                                    }
                                }));
            }
            return 0;
        });
        return found;
    }

    /**
     * Reads the record of a directory entry. Removes an entry without a file, which a sidecar left when it died early.
     */
    private Optional<Entry> read(int records, String entry) {
        int dash = entry.lastIndexOf('-');
        try {
            long user = Long.parseLong(entry.substring(0, Math.max(0, dash)));
            nextNumber = Math.max(nextNumber, Long.parseLong(entry.substring(dash + 1)) + 1);
            String place = entry;
            StringBuilder path = new StringBuilder();
            int directory = LinuxFiles.openDirectory(records, place);
            while (directory >= 0) {
                List<String> inside = children(directory);
                LinuxFiles.close(directory);
                if (inside.size() != 1) {
                    removeDirectories(records, place);
                    return Optional.empty();
                }
                place += "/" + inside.getFirst();
                path.append(inside.getFirst());
                directory = LinuxFiles.openDirectory(records, place);
            }
            return Optional.of(new Entry(user, decode(path.toString()), place));
        } catch (IllegalArgumentException e) {
            // No sidecar created this entry.
            return Optional.empty();
        }
    }

    /**
     * Creates a file for reading and writing, with a record where the volume permits records. The file's mode is 0660,
     * reduced by the umask.
     *
     * @param path path of the file in the volume
     */
    Created create(int directory, String name, String path, long user) {
        @Nullable Entry[] made = new Entry[1];
        int file = -LinuxErrno.ENOENT;
        for (int attempt = 0; attempt < ATTEMPTS && file == -LinuxErrno.ENOENT; attempt++) {
            file = inDirectory(records -> {
                Entry entry = new Entry(user, path, place(user, path));
                int created = makeDirectories(records, entry.place());
                while (created == -LinuxErrno.EEXIST) {
                    entry = new Entry(user, path, place(user, path));
                    created = makeDirectories(records, entry.place());
                }
                if (created == 0) {
                    created = create(records, entry, directory, name);
                }
                made[0] = created < 0 ? null : entry;
                return created;
            });
        }
        return isRefusal(file)
                ? new Created(LinuxFiles.createFile(directory, name, FILE_MODE), null)
                : new Created(file, made[0]);
    }

    private String place(long user, String path) {
        String encoded = encode(path);
        StringBuilder place = new StringBuilder().append(user).append('-').append(nextNumber++);
        for (int at = 0; at < encoded.length(); at += PIECE) {
            place.append('/').append(encoded, at, Math.min(encoded.length(), at + PIECE));
        }
        return place.toString();
    }

    /** Encodes a path in letters that all file systems and locales accept. */
    private static String encode(String path) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(path.getBytes(StandardCharsets.UTF_8));
    }

    private static String decode(String path) {
        return new String(Base64.getUrlDecoder().decode(path), StandardCharsets.UTF_8);
    }

    /** Creates the directories of a place. EEXIST means that another file has the place. */
    private static int makeDirectories(int records, String place) {
        for (int slash = place.indexOf('/'); slash >= 0; slash = place.indexOf('/', slash + 1)) {
            int result = LinuxFiles.makeDirectory(records, place.substring(0, slash), DIRECTORY_MODE);
            if (result < 0) {
                if (result != -LinuxErrno.EEXIST) {
                    removeDirectories(records, place);
                }
                return result;
            }
        }
        return 0;
    }

    /** Creates the second name, then the file's own name. */
    private static int create(int records, Entry record, int directory, String name) {
        int file = LinuxFiles.createFile(records, record.place(), FILE_MODE);
        int result = file;
        if (file >= 0) {
            LinuxFiles.lock(file, true);
            result = LinuxFiles.link(records, record.place(), directory, name);
            if (result < 0) {
                LinuxFiles.close(file);
            }
        }
        if (result < 0) {
            drop(records, record);
        }
        return result < 0 ? result : file;
    }

    /** Returns whether the volume refuses records but may accept files. */
    private static boolean isRefusal(int result) {
        return switch (-result) {
            case LinuxErrno.EPERM,
                    LinuxErrno.EACCES,
                    LinuxErrno.EMLINK,
                    LinuxErrno.EXDEV,
                    LinuxErrno.EOPNOTSUPP,
                    LinuxErrno.ENOTDIR,
                    LinuxErrno.ENAMETOOLONG,
                    LinuxErrno.ELOOP -> true;
            default -> false;
        };
    }

    /** Removes a record. The caller handles the name of its file. */
    void drop(Entry record) {
        inDirectory(records -> {
            drop(records, record);
            return 0;
        });
    }

    /** Removes a file with its record. Returns false and removes nothing while the file is locked. */
    boolean removeUnused(Entry record, Identity identity) {
        return inDirectory(records -> removeUnused(records, record, identity) ? 1 : 0) == 1;
    }

    private boolean removeUnused(int records, Entry record, Identity identity) {
        int file = LinuxFiles.openFile(records, record.place());
        if (file < 0 || !LinuxFiles.lock(file, true)) {
            LinuxFiles.close(file);
            return file == -LinuxErrno.ENOENT;
        }
        atName(record.path(), (directory, name) -> {
            if (LinuxFiles.isFile(directory, name, identity)) {
                LinuxFiles.unlink(directory, name);
            }
        });
        drop(records, record);
        LinuxFiles.close(file);
        return true;
    }

    /** Returns whether a record still is a name of the file. */
    boolean isRecordOf(Entry record, Identity identity) {
        return inDirectory(records -> LinuxFiles.isFile(records, record.place(), identity) ? 1 : 0) == 1;
    }

    /** Returns whether the path of a record still leads to its file. */
    boolean isNamed(Entry record, Identity identity) {
        boolean[] named = new boolean[1];
        atName(record.path(), (directory, name) -> named[0] = LinuxFiles.isFile(directory, name, identity));
        return named[0];
    }

    private static void drop(int records, Entry record) {
        LinuxFiles.unlink(records, record.place());
        removeDirectories(records, record.place());
    }

    /** Removes the empty directories of a path, from its end on. */
    private static void removeDirectories(int records, String place) {
        for (String left = place; !left.isEmpty(); left = left.substring(0, Math.max(0, left.lastIndexOf('/')))) {
            LinuxFiles.removeDirectory(records, left);
        }
    }

    /**
     * Runs an action in the directory of records. Creates the directory before, and removes it afterwards when it is
     * empty.
     *
     * @return result of the action, or a negative error number when the directory cannot be used
     */
    private int inDirectory(ToIntFunction<Integer> work) {
        int root = openRoot.getAsInt();
        try {
            int made = LinuxFiles.makeDirectory(root, DIRECTORY, DIRECTORY_MODE);
            int records = made < 0 && made != -LinuxErrno.EEXIST ? made : open(root);
            if (records < 0) {
                return records;
            }
            try {
                return work.applyAsInt(records);
            } finally {
                LinuxFiles.close(records);
                LinuxFiles.removeDirectory(root, DIRECTORY);
            }
        } finally {
            LinuxFiles.close(root);
        }
    }

    /**
     * Opens the directory of records. No other user can change its content, so its paths need no symbolic link checks.
     */
    private static int open(int root) {
        int records = LinuxFiles.openDirectory(root, DIRECTORY);
        try {
            if (records < 0 || LinuxFiles.stat(records).isPrivateDirectory(LinuxFiles.user())) {
                return records;
            }
        } catch (ErrnoException e) {
            // The directory counts as one that belongs to another user.
        }
        LinuxFiles.close(records);
        return -LinuxErrno.EPERM;
    }

    private interface AtName {
        void accept(int directory, String name);
    }

    /**
     * Walks to the directory of a path without following symbolic links. Does nothing when the directory is missing.
     */
    private void atName(String path, AtName action) {
        String[] names = path.split("/", -1);
        int directory = openRoot.getAsInt();
        for (int i = 0; i < names.length - 1 && directory >= 0; i++) {
            int next = LinuxFiles.openDirectory(directory, names[i]);
            LinuxFiles.close(directory);
            directory = next;
        }
        if (directory >= 0) {
            action.accept(directory, names[names.length - 1]);
            LinuxFiles.close(directory);
        }
    }

    private static List<String> children(int directory) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(Path.of("/proc/self/fd/" + directory))) {
            paths.forEach(path -> names.add(path.getFileName().toString()));
        } catch (IOException | DirectoryIteratorException e) {
            // A directory that cannot be listed stays as it is.
        }
        return names;
    }
}
