// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.linux.NativeLibrary;
import io.sidewarp.engine.memory.ProcessBacking;
import io.sidewarp.engine.memory.ProcessMemory;
import java.lang.foreign.MemorySegment;

/**
 * Pages of this process, which tests use as memory of another process. The test plays the application, and sees at once
 * what the engine does.
 */
public final class OwnMemory implements AutoCloseable {

    private static final int O_RDWR = 2;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;

    /** Length of a page in bytes. */
    public static final long PAGE = NativeLibrary.C.call("getpagesize");

    private final ProcessMemory process;
    private final long address;
    private final long length;

    /** Maps zeroed pages. */
    public OwnMemory(int pages) {
        process = ProcessMemory.takeOver(open("/proc/self/mem", O_RDWR));
        length = pages * PAGE;
        address = NativeLibrary.C.callForPointer("mmap", 0L, length, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
    }

    /** Opens a file and returns its descriptor. */
    public static int open(String path, int flags) {
        int descriptor = NativeLibrary.C.callVariadic("open", 2, path, flags);
        if (descriptor < 0) {
            throw new IllegalStateException("cannot open " + path + ": error " + -descriptor);
        }
        return descriptor;
    }

    public ProcessMemory process() {
        return process;
    }

    /** Returns the memory as the application sees it. */
    public MemorySegment segment() {
        return MemorySegment.ofAddress(address).reinterpret(length);
    }

    /** Returns a backing over a part of the pages. */
    public ProcessBacking backing(long offset, long octets) {
        return new ProcessBacking(process, address + offset, octets);
    }

    /** Unmaps one page. */
    public void unmap(int page) {
        NativeLibrary.C.call("munmap", address + page * PAGE, PAGE);
    }

    /** Closes the descriptor unless backings use it. The pages stay, because the engine may still use them. */
    @Override
    public void close() {
        process.close();
    }
}
