// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Reads and writes at a position of a file, for files that FileChannel cannot open. A call that fails returns the
 * negative error number. The calls may sleep, so they are not critical calls of the Linker, which would hold up every
 * safepoint. For one thread; allocates nothing per call.
 */
public final class FileTransfers {

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno")).withInvokeExactBehavior();
    private static final MethodHandle PREAD = find("pread");
    private static final MethodHandle PWRITE = find("pwrite");
    private static final ThreadLocal<FileTransfers> OF_THREAD = ThreadLocal.withInitial(FileTransfers::new);

    private static final long SCRATCH_LENGTH = 8192;

    private final MemorySegment state = Arena.ofAuto().allocate(CALL_STATE);
    private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH_LENGTH, Long.BYTES);

    private FileTransfers() {}

    /** Returns the calls of the current thread. */
    public static FileTransfers ofThread() {
        return OF_THREAD.get();
    }

    /** Returns 8192 bytes of native memory for data that is not in native memory itself. */
    public MemorySegment scratch() {
        return scratch;
    }

    /** Finds pread or pwrite, which have the same signature. */
    private static MethodHandle find(String name) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG),
                Linker.Option.captureCallState("errno"));
    }

    /**
     * Reads bytes. Repeats a call that a signal interrupted.
     *
     * @param address of native memory, which the caller keeps
     * @param octets room there in bytes, at least 1
     * @return bytes read, which may be fewer; 0 at the end of the file
     */
    public long read(int descriptor, long address, long octets, long position) {
        long result;
        do {
            try {
                result = result((long) PREAD.invokeExact(state, descriptor, address, octets, position));
            } catch (Throwable e) {
                throw new AssertionError("a native call cannot throw", e);
            }
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    /**
     * Writes bytes. Repeats a call that a signal interrupted.
     *
     * @param address of native memory, which the caller keeps
     * @param octets bytes there, at least 1
     * @return bytes written, which may be fewer
     */
    public long write(int descriptor, long address, long octets, long position) {
        long result;
        do {
            try {
                result = result((long) PWRITE.invokeExact(state, descriptor, address, octets, position));
            } catch (Throwable e) {
                throw new AssertionError("a native call cannot throw", e);
            }
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    private long result(long returned) {
        return returned >= 0 ? returned : -(int) ERRNO.get(state, 0L);
    }
}
