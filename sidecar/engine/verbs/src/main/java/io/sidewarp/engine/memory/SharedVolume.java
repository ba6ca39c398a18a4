// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.linux.LinuxErrno;
import io.sidewarp.engine.memory.CreatedFiles.Found;
import io.sidewarp.engine.memory.RegionException.Reason;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The volume that the application shares with this process. Only files of this volume become regions. Every component
 * of a path is opened relative to the directory before it, and never through a symbolic link. Changes that the
 * application makes to the tree meanwhile can therefore not lead outside the volume. Linux only. Thread-safe.
 */
public final class SharedVolume {

    private static final int NAME_MAX = 255;
    private static final int PATH_MAX = 4095;

    private final Path root;
    private final CreatedFiles files = new CreatedFiles(this::openRoot);
    private final FileCreation creation = new FileCreation(files);

    /**
     * Region that a file belongs to.
     *
     * @param user number of the caller's user, or any negative number when the user is unknown
     * @param region name of the region in messages to this user, for instance "region 7"
     */
    public record Holder(long user, String region) {}

    /**
     * A part of a file.
     *
     * @param offset bytes from the beginning of the file
     * @param length bytes, or 0 for the rest of an existing file
     * @param page bytes in a page of the file
     */
    record Part(String path, long offset, long length, long page) {

        /**
         * Length of a file to create. A file of huge pages must have whole pages, or it could not be extended later.
         */
        long octetsToCreate() {
            return page > LinuxFiles.pageSize() ? wholePages(length, page) : length;
        }
    }

    /** Decides on a part of a file, before the file is created or the part gets memory. */
    @FunctionalInterface
    public interface Admission {

        /**
         * Refuses by throwing an exception. Nothing is created then, and nothing gets memory.
         *
         * @param length bytes of the part
         * @param access access check for the file, or for its creation
         */
        void admit(long length, Access access);
    }

    /** Access check for a file. */
    @FunctionalInterface
    public interface Access {

        /**
         * Returns whether owner and mode let a user of this host read the file. The check includes the directories on
         * the path to the file, but not the volume itself. The rights of a group count for every user.
         *
         * @param write whether the user must also be able to change the file
         */
        boolean permits(long user, boolean write);
    }

    /** A directory of the volume, with the access checks for its entries and for the creation of files in it. */
    private record Parent(int directory, Access reach, Access creation) {

        static final Access ALL = (user, write) -> true;

        Parent child(int child, LinuxFiles.Stat stat) {
            Access before = reach;
            return new Parent(
                    child,
                    (user, write) -> before.permits(user, write) && stat.permitsEntry(user, false),
                    (user, write) -> before.permits(user, write) && stat.permitsEntry(user, true));
        }
    }

    /** @param root existing directory; its path may contain symbolic links, because the operator chose the path */
    public SharedVolume(Path root) {
        this.root = root;
    }

    /**
     * Page size of the volume in bytes. Offsets into files must be a multiple of this size. On a file system of huge
     * pages (hugetlbfs) this is the huge page size.
     *
     * @throws RegionException IO when the volume cannot be opened
     */
    public long pageSize() {
        int directory = openRoot();
        try {
            return LinuxFiles.pageSize(directory);
        } finally {
            LinuxFiles.close(directory);
        }
    }

    /**
     * Returns whether the volume is mounted read-only, so that none of its files can become a region.
     *
     * @throws RegionException IO when the volume cannot be opened
     */
    public boolean isReadOnly() {
        int directory = openRoot();
        try {
            return LinuxFiles.isReadOnly(directory);
        } finally {
            LinuxFiles.close(directory);
        }
    }

    /** Rounds a length up to whole pages. Returns the length unchanged where the result exceeds a long. */
    static long wholePages(long octets, long page) {
        long whole = Math.ceilDiv(octets, page) * page;
        return whole < octets ? octets : whole;
    }

    /**
     * Finds the orphans: files that earlier sidecars created and left when they died. Called once, before the first
     * file is opened.
     *
     * @return reason why this volume cannot hold records, or empty when it can. Without records, files created from now
     *     on become the application's own when this process dies
     * @throws RegionException IO when the volume cannot be opened
     */
    public Optional<String> findOrphans() {
        return files.load();
    }

    /**
     * Removes the orphans that were not taken over and that no region uses.
     *
     * @return number of orphans that are left, because regions use them
     * @throws RegionException IO when the volume cannot be opened
     */
    public int removeOrphans() {
        return files.removeOrphans();
    }

    /**
     * Opens or creates a file, maps a part of the file and allocates the memory of every page of that part. Hence no
     * first access is slow, and a lack of space shows now.
     *
     * @param relativePath names separated by "/"
     * @param offset bytes from the beginning of the file, a multiple of {@link #pageSize()}
     * @param length bytes, or 0 for the rest of the file
     * @param mode handling of the file. A created file has mode 0660, and its length is offset plus length bytes, or
     *     whole huge pages. It is removed when the backing is closed. Only the part gets memory, not the range before
     *     it. A file that is taken over is extended with zeros where it is shorter, and never cut. An opened file must
     *     be long enough
     * @param holder region that the file belongs to
     * @param admission check that runs before anything gets memory
     * @throws RegionException when the file cannot become a region
     */
    public SharedBacking open(
            String relativePath, long offset, long length, RegionFileMode mode, Holder holder, Admission admission) {
        List<String> names = names(relativePath);
        checkRange(relativePath, offset, length, mode.creates());
        Parent parent = openParent(relativePath, names);
        int directory = parent.directory();
        try {
            long page = LinuxFiles.pageSize(directory);
            checkOffset(relativePath, offset, page);
            String name = names.getLast();
            Part part = new Part(relativePath, offset, length, page);
            if (mode == RegionFileMode.NONE
                    || (mode == RegionFileMode.OPEN_OR_CREATE
                            && files.find(directory, name) instanceof Found.Foreign)) {
                SharedBacking backing = openExisting(part, parent, name, admission);
                LinuxFiles.close(directory);
                return backing;
            }
            admission.admit(length, parent.creation());
            return creation.create(part, directory, name, mode, holder);
        } catch (RuntimeException | Error e) {
            LinuxFiles.close(directory);
            throw e;
        }
    }

    private SharedBacking openExisting(Part part, Parent parent, String name, Admission admission) {
        String path = part.path();
        long offset = part.offset();
        long length = part.length();
        int directory = parent.directory();
        int file = LinuxFiles.openFile(directory, name);
        if (file < 0) {
            throw failure(-file, path, directory, name);
        }
        try {
            LinuxFiles.Stat stat = LinuxFiles.stat(file);
            if (!stat.isRegularFile()) {
                throw notAFile(path);
            }
            if (offset >= stat.length() || length > stat.length() - offset) {
                throw new RegionException(
                        Reason.OUT_OF_BOUNDS,
                        path + " has " + stat.length() + " bytes; offset " + offset + " and length " + length
                                + " do not fit, extend the file first");
            }
            long octets = length == 0 ? stat.length() - offset : length;
            admission.admit(octets, (user, write) -> parent.reach().permits(user, write) && permits(file, user, write));
            // Runs before population, which would use up the volume before it finds that the volume has too little
            // room.
            files.keep(file);
            int result = creation.withRoom(() -> LinuxFiles.reserve(file, offset, octets));
            if (result < 0) {
                throw failure(-result, path, directory, name);
            }
            return map(new Part(path, offset, octets, part.page()), file, null);
        } catch (LinuxFiles.ErrnoException e) {
            LinuxFiles.close(file);
            throw failure(e.errno(), path, directory, name);
        } catch (RuntimeException | Error e) {
            LinuxFiles.close(file);
            throw e;
        }
    }

    private static boolean permits(int file, long user, boolean write) {
        try {
            return LinuxFiles.stat(file).permits(user, write);
        } catch (LinuxFiles.ErrnoException e) {
            return false;
        }
    }

    /** Maps a part and allocates its pages. Does not touch descriptors and file when it fails. */
    static SharedBacking map(Part part, int file, SharedBacking.@Nullable CreatedFile created) {
        SharedBacking backing = new SharedBacking(part, file, created);
        try {
            populate(part.path(), backing);
            return backing;
        } catch (RuntimeException | Error e) {
            backing.unmap();
            throw e;
        }
    }

    private static void populate(String path, SharedBacking backing) {
        MemorySegment segment = backing.segment();
        int result = LinuxFiles.populate(segment.address(), segment.byteSize());
        if (result == -LinuxErrno.EINVAL) {
            result = touch(segment) ? 0 : -LinuxErrno.EFAULT;
        }
        if (result == 0) {
            return;
        }
        if (result == -LinuxErrno.EFAULT && !backing.verify()) {
            throw new RegionException(
                    Reason.OUT_OF_BOUNDS,
                    path + " was truncated while it was registered; keep its length until it is deregistered");
        }
        throw new RegionException(
                Reason.NO_SPACE,
                "no memory for " + segment.byteSize() + " bytes of " + path
                        + "; register less, or raise the size limit of the volume and the memory limit");
    }

    /**
     * Reads a byte of every page, for kernels that cannot populate. A read changes no data that the application may be
     * writing. Unlike an atomic operation, a read also survives a truncation where the virtual machine interprets code.
     */
    static boolean touch(MemorySegment segment) {
        MemorySegment octet = MemorySegment.ofArray(new byte[1]);
        long page = LinuxFiles.pageSize();
        try {
            for (long at = 0; at < segment.byteSize(); at += page) {
                MemorySegment.copy(segment, at, octet, 0, 1);
            }
            LateFaults.raisePending();
            return true;
        } catch (InternalError e) {
            return false;
        }
    }

    private Parent openParent(String path, List<String> names) {
        Parent parent = new Parent(openRoot(), Parent.ALL, Parent.ALL);
        for (int depth = 1; depth < names.size(); depth++) {
            String name = names.get(depth - 1);
            int directory = parent.directory();
            int next = LinuxFiles.openDirectory(directory, name);
            try {
                if (next == -LinuxErrno.ENOENT) {
                    throw missingDirectory(path, String.join("/", names.subList(0, depth)));
                }
                if (next < 0) {
                    throw failure(-next, path, directory, name);
                }
                parent = parent.child(next, LinuxFiles.stat(next));
            } catch (LinuxFiles.ErrnoException e) {
                LinuxFiles.close(next);
                throw failure(e.errno(), path, directory, name);
            } finally {
                LinuxFiles.close(directory);
            }
        }
        return parent;
    }

    private int openRoot() {
        int directory = LinuxFiles.openRoot(root.toString());
        if (directory == -LinuxErrno.EMFILE || directory == -LinuxErrno.ENFILE) {
            throw noDescriptor("the shared volume " + root);
        }
        if (directory < 0) {
            throw new RegionException(
                    Reason.IO,
                    "cannot open the shared volume " + root + " (error " + -directory
                            + "); mount it there, or configure where it is");
        }
        return directory;
    }

    private static List<String> names(String path) {
        List<String> names = List.of(path.split("/", -1));
        for (String name : names) {
            if (name.isEmpty() || name.equals(".") || name.equals("..") || name.indexOf('\0') >= 0) {
                throw invalidPath(
                        path, "it must be relative to the shared volume, without \"..\", \".\" or empty names");
            }
            if (name.getBytes(StandardCharsets.UTF_8).length > NAME_MAX) {
                throw invalidPath(path, "a name in the path is longer than " + NAME_MAX + " bytes");
            }
        }
        if (names.getFirst().equals(FileRecords.DIRECTORY)) {
            throw invalidPath(path, "the sidecar keeps its own records there");
        }
        if (path.getBytes(StandardCharsets.UTF_8).length > PATH_MAX) {
            throw new RegionException(Reason.INVALID_PATH, "the path is longer than " + PATH_MAX + " bytes");
        }
        return names;
    }

    private static void checkRange(String path, long offset, long length, boolean create) {
        if (offset < 0 || length < 0 || offset + length < 0 || (create && length == 0)) {
            throw new RegionException(
                    Reason.OUT_OF_BOUNDS,
                    "offset " + Long.toUnsignedString(offset) + " and length " + Long.toUnsignedString(length)
                            + " are not possible for " + path
                            + (create && length == 0
                                    ? "; a file to create needs a length of at least 1"
                                    : "; a file has less than 2^63 bytes"));
        }
    }

    private static void checkOffset(String path, long offset, long page) {
        if (offset % page != 0) {
            throw new RegionException(
                    Reason.OUT_OF_BOUNDS,
                    "offset " + offset + " in " + path + " must be a multiple of the volume's page size, " + page);
        }
    }

    /** @param name component in the open directory that could not be opened */
    static RegionException failure(int errno, String path, int directory, String name) {
        return switch (errno) {
            case LinuxErrno.ENOENT ->
                new RegionException(
                        Reason.NOT_FOUND,
                        path + " is missing in the shared volume; create it there first, or ask for its creation");
            case LinuxErrno.EEXIST ->
                new RegionException(
                        Reason.ALREADY_EXISTS,
                        path + " exists already; register it without creation, or choose another name");
            case LinuxErrno.ELOOP, LinuxErrno.ENOTDIR ->
                isSymbolicLink(directory, name)
                        ? invalidPath(path, name + " is a symbolic link; name the file itself")
                        : invalidPath(path, name + " is not a directory");
            case LinuxErrno.ENAMETOOLONG, LinuxErrno.EINVAL -> invalidPath(path, "the volume does not take that name");
            case LinuxErrno.EISDIR, LinuxErrno.ENXIO -> notAFile(path);
            case LinuxErrno.EFBIG ->
                new RegionException(
                        Reason.OUT_OF_BOUNDS,
                        "offset and length are not possible for " + path + "; the file would be longer than the shared"
                                + " volume or this process (ulimit -f) allows");
            case LinuxErrno.ENOSPC, LinuxErrno.EDQUOT, LinuxErrno.ENOMEM ->
                new RegionException(
                        Reason.NO_SPACE,
                        "the shared volume has no room for " + path + "; register less, or raise its size limit");
            case LinuxErrno.EMFILE, LinuxErrno.ENFILE -> noDescriptor(path);
            case LinuxErrno.EROFS ->
                new RegionException(
                        Reason.NO_PERMISSION,
                        "the shared volume is read-only, so that " + path
                                + " cannot be a region; mount it for reading and writing");
            case LinuxErrno.EACCES, LinuxErrno.EPERM ->
                new RegionException(
                        Reason.NO_PERMISSION,
                        "no permission to open " + path + " for reading and writing; give this process's user or group"
                                + " access, for instance mode 0660 and a common group");
            default -> new RegionException(Reason.IO, "cannot open " + path + ": operating system error " + errno);
        };
    }

    private static RegionException missingDirectory(String path, String directory) {
        return new RegionException(
                Reason.NOT_FOUND,
                "the shared volume has no directory " + directory + " for " + path + "; create the directory first");
    }

    private static RegionException noDescriptor(String what) {
        return new RegionException(
                Reason.NO_SPACE,
                "no file descriptor is left to open " + what
                        + "; release regions or connections, or raise the process's limit of open files");
    }

    private static boolean isSymbolicLink(int directory, String name) {
        try {
            return LinuxFiles.stat(directory, name).isSymbolicLink();
        } catch (LinuxFiles.ErrnoException e) {
            return false;
        }
    }

    private static RegionException invalidPath(String path, String why) {
        return new RegionException(
                Reason.INVALID_PATH, "path \"" + path.replace('\0', '?') + "\" cannot be used: " + why);
    }

    private static RegionException notAFile(String path) {
        return new RegionException(Reason.NOT_A_FILE, path + " is not a regular file; only those can back a region");
    }
}
