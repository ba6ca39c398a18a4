// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import io.sidewarp.engine.linux.FileTransfers;
import io.sidewarp.engine.linux.LinuxErrno;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Memory that another process has already: its heap, stack or static data. Bytes move by a system call between that
 * memory and native memory of this process, where the engine has them in any case. Thread-safe. Allocates nothing per
 * transfer unless the transfer fails.
 *
 * <p>The process may poll the memory. {@link #placeLast} therefore writes the last 8 bytes of a message by a call of
 * their own.
 *
 * <p>A word is loaded and stored by one system call. Operations of this sidecar are atomic among each other, but not
 * with respect to the processor of the application.
 */
public final class ProcessBacking implements RegionBacking {

    /** Size of the user part of the address space with four levels of page tables. */
    private static final long END_OF_ADDRESSES = 1L << 47;

    private static final long STALL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final ProcessMemory memory;
    private final long address;
    private final long length;
    private volatile boolean closed;

    /** Thrown when the process has no such memory. */
    static final class AccessFailure extends Exception {

        private static final long serialVersionUID = 1L;

        AccessFailure(String message) {
            super(message, null, false, false);
        }
    }

    /**
     * Makes a backing. Does not access the memory.
     *
     * @param address virtual address in the process
     * @param length bytes, at least 1
     * @throws IllegalArgumentException for a range that is empty or is not below 2^47
     * @throws IllegalStateException when the memory was closed
     */
    public ProcessBacking(ProcessMemory memory, long address, long length) {
        if (length < 1) {
            throw new IllegalArgumentException(
                    "a region needs a length of at least 1, not " + Long.toUnsignedString(length));
        }
        if (address < 0 || address > END_OF_ADDRESSES - length) {
            throw new IllegalArgumentException("address 0x" + Long.toHexString(address) + " plus length " + length
                    + " exceeds 2^47; pass an address of the process and a length in bytes");
        }
        this.memory = memory;
        this.address = address;
        this.length = length;
        memory.retain();
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public String path() {
        return "";
    }

    /** Returns whether the process still has the first and the last byte. */
    @Override
    public synchronized boolean verify() {
        if (closed) {
            return false;
        }
        FileTransfers calls = FileTransfers.ofThread();
        long scratch = calls.scratch().address();
        return calls.read(memory.descriptor(), scratch, 1, address) == 1
                && calls.read(memory.descriptor(), scratch, 1, address + length - 1) == 1;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            memory.release();
        }
    }

    boolean isWordAligned(long offset) {
        return (address + offset) % Long.BYTES == 0;
    }

    /**
     * Copies bytes into the memory.
     *
     * @param source address of native memory, which the caller keeps
     * @throws IllegalStateException when the backing is closed
     */
    void place(long offset, long source, long octets) throws AccessFailure {
        long begin = begin(offset, octets);
        write(FileTransfers.ofThread(), offset, source, octets);
        end(begin);
    }

    /** Copies the end of a message. The last 8 bytes become visible after all others. See {@link #place}. */
    void placeLast(long offset, long source, long octets) throws AccessFailure {
        long begin = begin(offset, octets);
        FileTransfers calls = FileTransfers.ofThread();
        long before = Math.max(0, octets - Long.BYTES);
        write(calls, offset, source, before);
        write(calls, offset + before, source + before, octets - before);
        end(begin);
    }

    /** Copies bytes out of the memory. See {@link #place}. */
    void fetch(long offset, long target, long octets) throws AccessFailure {
        long begin = begin(offset, octets);
        read(FileTransfers.ofThread(), offset, target, octets);
        end(begin);
    }

    /** Copies bytes of any memory, in pieces through native memory of the thread. Not for the data path. */
    void place(long offset, MemorySegment source, long sourceOffset, long octets) throws AccessFailure {
        Objects.checkFromIndexSize(sourceOffset, octets, source.byteSize());
        MemorySegment scratch = FileTransfers.ofThread().scratch();
        for (long done = 0; done < octets; done += scratch.byteSize()) {
            long part = Math.min(octets - done, scratch.byteSize());
            MemorySegment.copy(source, sourceOffset + done, scratch, 0, part);
            place(offset + done, scratch.address(), part);
        }
    }

    /** Copies bytes into any memory. See {@link #place(long, MemorySegment, long, long)}. */
    void fetch(long offset, MemorySegment target, long targetOffset, long octets) throws AccessFailure {
        Objects.checkFromIndexSize(targetOffset, octets, target.byteSize());
        MemorySegment scratch = FileTransfers.ofThread().scratch();
        for (long done = 0; done < octets; done += scratch.byteSize()) {
            long part = Math.min(octets - done, scratch.byteSize());
            fetch(offset + done, scratch.address(), part);
            MemorySegment.copy(scratch, 0, target, targetOffset + done, part);
        }
    }

    long loadWord(long offset) throws AccessFailure {
        MemorySegment scratch = FileTransfers.ofThread().scratch();
        fetch(offset, scratch.address(), Long.BYTES);
        return scratch.get(ValueLayout.JAVA_LONG, 0);
    }

    void storeWord(long offset, long word) throws AccessFailure {
        MemorySegment scratch = FileTransfers.ofThread().scratch();
        scratch.set(ValueLayout.JAVA_LONG, 0, word);
        place(offset, scratch.address(), Long.BYTES);
    }

    /** Checks a transfer, and returns the time of its beginning. */
    private long begin(long offset, long octets) {
        Objects.checkFromIndexSize(offset, octets, length);
        if (closed) {
            throw new IllegalStateException("the region's memory was released");
        }
        return System.nanoTime();
    }

    private static void end(long begin) {
        if (System.nanoTime() - begin > STALL_NANOS) {
            ProcessMemory.countStall();
        }
    }

    private void write(FileTransfers calls, long offset, long source, long octets) throws AccessFailure {
        for (long done = 0; done < octets; ) {
            long at = address + offset + done;
            long moved = calls.write(memory.descriptor(), source + done, octets - done, at);
            if (moved <= 0) {
                throw failure(moved, at);
            }
            done += moved;
        }
    }

    private void read(FileTransfers calls, long offset, long target, long octets) throws AccessFailure {
        for (long done = 0; done < octets; ) {
            long at = address + offset + done;
            long moved = calls.read(memory.descriptor(), target + done, octets - done, at);
            if (moved <= 0) {
                throw failure(moved, at);
            }
            done += moved;
        }
    }

    private static AccessFailure failure(long result, long at) {
        String where = "0x" + Long.toHexString(at);
        if (result == 0) {
            return new AccessFailure("the process that has " + where + " has ended or runs another program");
        }
        if (result == -LinuxErrno.EIO || result == -LinuxErrno.EFAULT) {
            return new AccessFailure(
                    "the process has unmapped " + where + "; keep memory mapped until its region is deregistered");
        }
        return new AccessFailure("the process's memory at " + where + " failed (error " + -result + ")");
    }
}
