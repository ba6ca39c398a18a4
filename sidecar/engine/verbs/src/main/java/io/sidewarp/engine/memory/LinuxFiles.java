// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static io.sidewarp.engine.linux.LinuxErrno.EAGAIN;
import static io.sidewarp.engine.linux.LinuxErrno.EINTR;
import static io.sidewarp.engine.linux.LinuxErrno.EOPNOTSUPP;
import static io.sidewarp.engine.linux.NativeLibrary.C;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;

/**
 * Linux file calls that java.nio.file lacks and that confinement to the volume needs. They open files relative to an
 * open directory, without following links and without waiting for the other end of a pipe. They query the opened file
 * instead of its name. All calls return the negative error number when they fail.
 */
final class LinuxFiles {

    private static final int O_RDONLY = 0;
    private static final int O_RDWR = 2;
    private static final int O_CREAT = 0x40;
    private static final int O_EXCL = 0x80;
    private static final int O_NOCTTY = 0x100;
    private static final int O_NONBLOCK = 0x800;
    private static final int O_CLOEXEC = 0x80000;
    /** Whether the flags of this processor architecture are those of ARM. Two flags differ between architectures. */
    private static final boolean ARM_FLAGS = List.of("aarch64", "ppc64le").contains(System.getProperty("os.arch"));

    private static final int O_DIRECTORY = ARM_FLAGS ? 0x4000 : 0x10000;
    private static final int O_NOFOLLOW = ARM_FLAGS ? 0x8000 : 0x20000;

    private static final int F_GETFL = 3;
    private static final int O_ACCMODE = 3;

    private static final int AT_FDCWD = -100;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int AT_REMOVEDIR = 0x200;
    private static final int LOCK_SH = 1;
    private static final int LOCK_EX = 2;
    private static final int LOCK_NB = 4;
    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final long STATX_SIZE = 256;
    private static final long STATX_UID = 20;
    private static final long STATX_MODE = 28;
    private static final long STATX_INODE = 32;
    private static final long STATX_LENGTH = 40;
    private static final long STATX_DEVICE = 136;

    private static final int FALLOC_FL_KEEP_SIZE = 1;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MADV_POPULATE_WRITE = 23;
    private static final long HUGETLBFS_MAGIC = 0x958458f6L;
    private static final long PROC_MAGIC = 0x9fa0;
    private static final long STATFS_SIZE = 120;
    private static final long STATFS_TYPE = 0;
    private static final long STATFS_BLOCK = 8;
    private static final long STATFS_FLAGS = 80;
    private static final long ST_RDONLY = 1;

    private LinuxFiles() {}

    /** Facts about a file. */
    record Stat(int mode, long owner, long length, long inode, long device) {

        private static final long ROOT = 0;
        private static final int OTHERS = 077;
        private static final int READ_BIT = 4;
        private static final int WRITE_BIT = 2;
        private static final int SEARCH_BIT = 1;
        private static final int OWNER_SHIFT = 6;
        private static final int GROUP_SHIFT = 3;

        boolean isRegularFile() {
            return type() == 0x8000;
        }

        boolean isSymbolicLink() {
            return type() == 0xA000;
        }

        /**
         * Returns whether the mode lets a user read, or read and write. The groups of the user are unknown here. The
         * rights of the group therefore count for every user except the owner.
         */
        boolean permits(long user, boolean write) {
            return grants(user, write ? READ_BIT | WRITE_BIT : READ_BIT);
        }

        /** Returns whether the mode of a directory lets a user reach its entries, or create files in it. */
        boolean permitsEntry(long user, boolean create) {
            return grants(user, create ? SEARCH_BIT | WRITE_BIT : SEARCH_BIT);
        }

        private boolean grants(long user, int wanted) {
            int granted = user == owner ? mode >> OWNER_SHIFT : mode >> GROUP_SHIFT | mode;
            return user == ROOT || (granted & wanted) == wanted;
        }

        /** Returns whether this is a directory that only the given user can list and change. */
        boolean isPrivateDirectory(long user) {
            return type() == 0x4000 && owner == user && (mode & OTHERS) == 0;
        }

        Identity identity() {
            return new Identity(device, inode);
        }

        private int type() {
            return mode & 0xF000;
        }
    }

    /** Identifies a file among all others while a name, a descriptor or a mapping keeps the file. */
    record Identity(long device, long inode) {}

    /** Opens a directory by a path that may contain symbolic links. */
    static int openRoot(String path) {
        return open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    }

    /** Opens a directory inside another directory, without following a symbolic link. */
    static int openDirectory(int directory, String name) {
        return open(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    }

    /** Opens a file, or another object except a symbolic link, for reading and writing. Does not wait. */
    static int openFile(int directory, String name) {
        return open(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
    }

    /** Creates a file that does not exist, for reading and writing. The umask applies to the mode. */
    static int createFile(int directory, String name, int mode) {
        return open(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    }

    private static int open(int directory, String name, int flags, int mode) {
        return uninterrupted(() -> C.callVariadic("openat", 3, directory, name, flags, mode));
    }

    /** Repeats a call that a signal interrupted. */
    private static int uninterrupted(IntSupplier call) {
        int result = call.getAsInt();
        while (result == -EINTR) {
            result = call.getAsInt();
        }
        return result;
    }

    static void close(int descriptor) {
        // Linux closes the descriptor also when it reports an error.
        C.call("close", descriptor);
    }

    /** Queries an open file. */
    static Stat stat(int descriptor) throws ErrnoException {
        return statx(descriptor, "", AT_EMPTY_PATH);
    }

    /** Queries a name in a directory, without following a symbolic link. */
    static Stat stat(int directory, String name) throws ErrnoException {
        return statx(directory, name, AT_SYMLINK_NOFOLLOW);
    }

    /** Identifies an open file. Empty when the file cannot be queried. */
    static Optional<Identity> identity(int descriptor) {
        try {
            return Optional.of(stat(descriptor).identity());
        } catch (ErrnoException e) {
            return Optional.empty();
        }
    }

    /** Identifies a name in a directory, without following a symbolic link. Empty when there is no such file. */
    static Optional<Identity> identity(int directory, String name) {
        try {
            return Optional.of(stat(directory, name).identity());
        } catch (ErrnoException e) {
            return Optional.empty();
        }
    }

    /** Returns whether a name in a directory leads to the file. */
    static boolean isFile(int directory, String name, Identity identity) {
        return identity(directory, name).equals(Optional.of(identity));
    }

    private static Stat statx(int directory, String name, int flags) throws ErrnoException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stat = arena.allocate(STATX_SIZE, Long.BYTES);
            int result = C.call("statx", directory, name, flags, STATX_BASIC_STATS, stat);
            if (result < 0) {
                throw new ErrnoException(-result);
            }
            return new Stat(
                    Short.toUnsignedInt(stat.get(ValueLayout.JAVA_SHORT, STATX_MODE)),
                    Integer.toUnsignedLong(stat.get(ValueLayout.JAVA_INT, STATX_UID)),
                    stat.get(ValueLayout.JAVA_LONG, STATX_LENGTH),
                    stat.get(ValueLayout.JAVA_LONG, STATX_INODE),
                    stat.get(ValueLayout.JAVA_LONG, STATX_DEVICE));
        }
    }

    static int changeMode(int descriptor, int mode) {
        return C.call("fchmod", descriptor, mode);
    }

    static int changeOwner(int descriptor, int user, int group) {
        return C.call("fchown", descriptor, user, group);
    }

    /**
     * Extends an empty file to the end of a part. Allocates the blocks of the part in advance where the file system can
     * do so. The range before the part has no blocks.
     */
    static int extend(int descriptor, long offset, long length) {
        int result = allocate(descriptor, 0, offset, length);
        return result == -EOPNOTSUPP ? C.call("ftruncate", descriptor, offset + length) : result;
    }

    /** Allocates the blocks of a part without changing content or length. On tmpfs it allocates all blocks or none. */
    static int reserve(int descriptor, long offset, long length) {
        int result = allocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, length);
        return result == -EOPNOTSUPP ? 0 : result;
    }

    private static int allocate(int descriptor, int mode, long offset, long length) {
        return uninterrupted(() -> C.call("fallocate", descriptor, mode, offset, length));
    }

    static int unlink(int directory, String name) {
        return C.call("unlinkat", directory, name, 0);
    }

    /** Removes an empty directory. */
    static int removeDirectory(int directory, String name) {
        return C.call("unlinkat", directory, name, AT_REMOVEDIR);
    }

    static int makeDirectory(int directory, String name, int mode) {
        return C.call("mkdirat", directory, name, mode);
    }

    /** Gives a file a second name, which must not exist. */
    static int link(int directory, String name, int otherDirectory, String otherName) {
        return C.call("linkat", directory, name, otherDirectory, otherName, 0);
    }

    /**
     * Locks an open file without waiting. Returns false when the lock of another descriptor conflicts. The lock ends
     * when its descriptor is closed, and thus with the process.
     */
    static boolean lock(int descriptor, boolean exclusive) {
        return C.call("flock", descriptor, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != -EAGAIN;
    }

    /** Effective user of this process. */
    static long user() {
        return Integer.toUnsignedLong(C.call("geteuid"));
    }

    /** Maps a part of a file, shared, for reading and writing. Returns the address, or the negative error number. */
    static long map(int descriptor, long offset, long length) {
        return C.callForPointer("mmap", 0L, length, PROT_READ_WRITE, MAP_SHARED, descriptor, offset);
    }

    static void unmap(long address, long length) {
        C.call("munmap", address, length);
    }

    /**
     * Allocates the memory of every page of a mapping. -EFAULT: the file has no such page. -EINVAL: before Linux 5.14.
     */
    static int populate(long address, long length) {
        return uninterrupted(() -> C.call("madvise", address, length, MADV_POPULATE_WRITE));
    }

    static long pageSize() {
        return C.call("getpagesize");
    }

    /** Page size in bytes of the files of a file system: a huge page on hugetlbfs, else {@link #pageSize()}. */
    static long pageSize(int descriptor) {
        return fileSystem(descriptor, STATFS_TYPE) == HUGETLBFS_MAGIC
                ? fileSystem(descriptor, STATFS_BLOCK)
                : pageSize();
    }

    /** Returns whether a file system is mounted read-only. */
    static boolean isReadOnly(int descriptor) {
        return (fileSystem(descriptor, STATFS_FLAGS) & ST_RDONLY) != 0;
    }

    /** Returns whether an open file is of the file system proc. */
    static boolean isProc(int descriptor) {
        return fileSystem(descriptor, STATFS_TYPE) == PROC_MAGIC;
    }

    /** Returns whether an open file can be both read and written. */
    static boolean isReadWrite(int descriptor) {
        int flags = C.callVariadic("fcntl", 2, descriptor, F_GETFL);
        return flags >= 0 && (flags & O_ACCMODE) == O_RDWR;
    }

    /** Returns a field of the facts about a file system, or 0 when they are unknown. */
    private static long fileSystem(int descriptor, long field) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment facts = arena.allocate(STATFS_SIZE, Long.BYTES);
            return C.call("fstatfs", descriptor, facts) == 0 ? facts.get(ValueLayout.JAVA_LONG, field) : 0;
        }
    }

    /** Carries an error number from a call that has another result. */
    static final class ErrnoException extends Exception {

        private static final long serialVersionUID = 1L;

        private final int errno;

        ErrnoException(int errno) {
            super("error " + errno, null, false, false);
            this.errno = errno;
        }

        int errno() {
            return errno;
        }
    }
}
