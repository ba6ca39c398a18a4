// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * Linux file calls that java.nio.file lacks and that confinement to the volume needs. They open files relative to an
 * open directory, without following links and without waiting for the other end of a pipe. They query the opened file
 * instead of its name. All calls return the negative error number when they fail.
 */
final class LinuxFiles {

    static final int ENOENT = 2;
    static final int EINTR = 4;
    static final int ENXIO = 6;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int EACCES = 13;
    static final int EFAULT = 14;
    static final int EPERM = 1;
    static final int EEXIST = 17;
    static final int EXDEV = 18;
    static final int ENOTDIR = 20;
    static final int EISDIR = 21;
    static final int EINVAL = 22;
    static final int ENFILE = 23;
    static final int EMFILE = 24;
    static final int EFBIG = 27;
    static final int ENOSPC = 28;
    static final int EROFS = 30;
    static final int EMLINK = 31;
    static final int ENAMETOOLONG = 36;
    static final int ELOOP = 40;
    static final int EOPNOTSUPP = 95;
    static final int EDQUOT = 122;

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
    private static final int SC_PAGESIZE = 30;
    private static final long HUGETLBFS_MAGIC = 0x958458f6L;
    private static final long STATFS_SIZE = 120;
    private static final long STATFS_TYPE = 0;
    private static final long STATFS_BLOCK = 8;
    private static final long STATFS_FLAGS = 80;
    private static final long ST_RDONLY = 1;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();

    private static final MethodHandle OPENAT = variadic("openat", 3, INT, INT, POINTER, INT, INT);
    private static final MethodHandle CLOSE = function("close", INT, INT);
    private static final MethodHandle STATX = function("statx", INT, INT, POINTER, INT, INT, POINTER);
    private static final MethodHandle FCHMOD = function("fchmod", INT, INT, INT);
    private static final MethodHandle FCHOWN = function("fchown", INT, INT, INT, INT);
    private static final MethodHandle FSTATFS = function("fstatfs", INT, INT, POINTER);
    private static final MethodHandle FTRUNCATE = function("ftruncate", INT, INT, LONG);
    private static final MethodHandle FALLOCATE = function("fallocate", INT, INT, INT, LONG, LONG);
    private static final MethodHandle UNLINKAT = function("unlinkat", INT, INT, POINTER, INT);
    private static final MethodHandle MKDIRAT = function("mkdirat", INT, INT, POINTER, INT);
    private static final MethodHandle LINKAT = function("linkat", INT, INT, POINTER, INT, POINTER, INT);
    private static final MethodHandle FLOCK = function("flock", INT, INT, INT);
    private static final MethodHandle GETEUID = function("geteuid", INT);
    private static final MethodHandle MMAP = function("mmap", LONG, POINTER, LONG, INT, INT, INT, LONG);
    private static final MethodHandle MUNMAP = function("munmap", INT, LONG, LONG);
    private static final MethodHandle MADVISE = function("madvise", INT, LONG, LONG, INT);
    private static final MethodHandle SYSCONF = function("sysconf", LONG, INT);

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

        boolean isSameFile(Stat other) {
            return identity().equals(other.identity());
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
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            MemorySegment path = arena.allocateFrom(name);
            while (true) {
                int result = result(state, (int) OPENAT.invokeExact(state, directory, path, flags, mode));
                if (result != -EINTR) {
                    return result;
                }
            }
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void close(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            // Linux closes the descriptor also when it reports an error.
            int ignored = (int) CLOSE.invokeExact(arena.allocate(CALL_STATE), descriptor);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Queries an open file. */
    static Stat stat(int descriptor) throws ErrnoException {
        return statx(descriptor, "", AT_EMPTY_PATH);
    }

    /** Queries a name in a directory, without following a symbolic link. */
    static Stat stat(int directory, String name) throws ErrnoException {
        return statx(directory, name, AT_SYMLINK_NOFOLLOW);
    }

    private static Stat statx(int directory, String name, int flags) throws ErrnoException {
        int result;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            MemorySegment stat = arena.allocate(STATX_SIZE, Long.BYTES);
            MemorySegment path = arena.allocateFrom(name);
            result = result(state, (int) STATX.invokeExact(state, directory, path, flags, STATX_BASIC_STATS, stat));
            if (result == 0) {
                return new Stat(
                        Short.toUnsignedInt(stat.get(ValueLayout.JAVA_SHORT, STATX_MODE)),
                        Integer.toUnsignedLong(stat.get(ValueLayout.JAVA_INT, STATX_UID)),
                        stat.get(LONG, STATX_LENGTH),
                        stat.get(LONG, STATX_INODE),
                        stat.get(LONG, STATX_DEVICE));
            }
        } catch (Throwable e) {
            throw rethrown(e);
        }
        throw new ErrnoException(-result);
    }

    static int changeMode(int descriptor, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            return result(state, (int) FCHMOD.invokeExact(state, descriptor, mode));
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static int changeOwner(int descriptor, int user, int group) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            return result(state, (int) FCHOWN.invokeExact(state, descriptor, user, group));
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /**
     * Extends an empty file to the end of a part. Allocates the blocks of the part in advance where the file system can
     * do so. The range before the part has no blocks.
     */
    static int extend(int descriptor, long offset, long length) {
        int result = allocate(descriptor, 0, offset, length);
        if (result != -EOPNOTSUPP) {
            return result;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            return result(state, (int) FTRUNCATE.invokeExact(state, descriptor, offset + length));
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Allocates the blocks of a part without changing content or length. On tmpfs it allocates all blocks or none. */
    static int reserve(int descriptor, long offset, long length) {
        int result = allocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, length);
        return result == -EOPNOTSUPP ? 0 : result;
    }

    private static int allocate(int descriptor, int mode, long offset, long length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            while (true) {
                int result = result(state, (int) FALLOCATE.invokeExact(state, descriptor, mode, offset, length));
                if (result != -EINTR) {
                    return result;
                }
            }
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static int unlink(int directory, String name) {
        return unlink(directory, name, 0);
    }

    /** Removes an empty directory. */
    static int removeDirectory(int directory, String name) {
        return unlink(directory, name, AT_REMOVEDIR);
    }

    private static int unlink(int directory, String name, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            return result(state, (int) UNLINKAT.invokeExact(state, directory, arena.allocateFrom(name), flags));
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static int makeDirectory(int directory, String name, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            return result(state, (int) MKDIRAT.invokeExact(state, directory, arena.allocateFrom(name), mode));
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Gives a file a second name, which must not exist. */
    static int link(int directory, String name, int otherDirectory, String otherName) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            MemorySegment from = arena.allocateFrom(name);
            MemorySegment to = arena.allocateFrom(otherName);
            return result(state, (int) LINKAT.invokeExact(state, directory, from, otherDirectory, to, 0));
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /**
     * Locks an open file without waiting. Returns false when the lock of another descriptor conflicts. The lock ends
     * when its descriptor is closed, and thus with the process.
     */
    static boolean lock(int descriptor, boolean exclusive) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            int operation = (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
            return result(state, (int) FLOCK.invokeExact(state, descriptor, operation)) != -EAGAIN;
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Effective user of this process. */
    static long user() {
        try (Arena arena = Arena.ofConfined()) {
            return Integer.toUnsignedLong((int) GETEUID.invokeExact(arena.allocate(CALL_STATE)));
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Maps a part of a file, shared, for reading and writing. Returns the address, or the negative error number. */
    static long map(int descriptor, long offset, long length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            long address = (long) MMAP.invokeExact(
                    state, MemorySegment.NULL, length, PROT_READ_WRITE, MAP_SHARED, descriptor, offset);
            return address == -1 ? -errno(state) : address;
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static void unmap(long address, long length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            int ignored = (int) MUNMAP.invokeExact(state, address, length);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /**
     * Allocates the memory of every page of a mapping. -EFAULT: the file has no such page. -EINVAL: before Linux 5.14.
     */
    static int populate(long address, long length) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            while (true) {
                int result = result(state, (int) MADVISE.invokeExact(state, address, length, MADV_POPULATE_WRITE));
                if (result != -EINTR) {
                    return result;
                }
            }
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    static long pageSize() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            return (long) SYSCONF.invokeExact(state, SC_PAGESIZE);
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Page size in bytes of the files of a file system: a huge page on hugetlbfs, else {@link #pageSize()}. */
    static long pageSize(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            MemorySegment facts = arena.allocate(STATFS_SIZE, Long.BYTES);
            int result = result(state, (int) FSTATFS.invokeExact(state, descriptor, facts));
            return result == 0 && facts.get(LONG, STATFS_TYPE) == HUGETLBFS_MAGIC
                    ? facts.get(LONG, STATFS_BLOCK)
                    : pageSize();
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    /** Returns whether a file system is mounted read-only. */
    static boolean isReadOnly(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(CALL_STATE);
            MemorySegment facts = arena.allocate(STATFS_SIZE, Long.BYTES);
            int result = result(state, (int) FSTATFS.invokeExact(state, descriptor, facts));
            return result == 0 && (facts.get(LONG, STATFS_FLAGS) & ST_RDONLY) != 0;
        } catch (Throwable e) {
            throw rethrown(e);
        }
    }

    private static int result(MemorySegment state, int returned) {
        return returned == -1 ? -errno(state) : returned;
    }

    private static int errno(MemorySegment state) {
        return (int) ERRNO.get(state, 0L);
    }

    private static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments), CAPTURE_ERRNO);
    }

    private static MethodHandle variadic(
            String name, int firstVariadic, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(result, arguments),
                CAPTURE_ERRNO,
                Linker.Option.firstVariadicArg(firstVariadic));
    }

    /** Rethrows an exception. Native calls throw none, so this is an Error or a mistake in this class. */
    private static RuntimeException rethrown(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
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
