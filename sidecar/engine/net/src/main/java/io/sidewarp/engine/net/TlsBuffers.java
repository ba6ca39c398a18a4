// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Buffers of one event loop for TLS, shared by its connections. The Java library encrypts arrays faster than direct
 * memory, so records pass through arrays. Belongs to one event loop.
 */
final class TlsBuffers {

    /** Most bytes of data in a record (RFC 8446 section 5.1). */
    static final int RECORD = 1 << 14;

    /** Room in bytes for the header, padding and tag of a record that this side makes. */
    static final int RECORD_OVERHEAD = 64;

    /** Room in bytes that a TLS engine wants for a record, whatever its length. */
    static final int RECORD_ROOM = RECORD + 1024;

    /** Most bytes of input that are kept until the rest of a record, or a task of the handshake, is there. */
    static final int MAX_HELD = 64 * 1024;

    private static final int KEPT = 64;

    private final StagingBuffer input = new StagingBuffer(RECORD_ROOM);
    private final ByteBuffer work;
    private final MemorySegment room;
    private final MemorySegment rest;
    private final ByteBuffer output;
    private final MemorySegment records;
    private final ArrayDeque<byte[]> spare = new ArrayDeque<>();

    /** @param stagingCapacity most bytes of one read */
    TlsBuffers(int stagingCapacity) {
        work = ByteBuffer.allocate(MAX_HELD + stagingCapacity);
        room = MemorySegment.ofArray(work.array()).asSlice(MAX_HELD);
        rest = room.asSlice(RECORD_ROOM);
        output = ByteBuffer.allocate(NetSettings.LARGE_OUTPUT_CAPACITY + 2 * RECORD_ROOM);
        records = MemorySegment.ofArray(output.array());
    }

    /** Returns how many bytes of data fit into records of the given total length. */
    static int plaintextRoom(int octets) {
        int records = octets / (RECORD + RECORD_OVERHEAD) + 1;
        return octets - records * RECORD_OVERHEAD;
    }

    /**
     * Returns the buffer that channels read into, which must be direct memory. It is short: the rest of a long input is
     * read into {@link #work}. Its content is taken before the next read.
     */
    StagingBuffer input() {
        return input;
    }

    /** Returns the array in which records are decrypted. Held bytes end where {@link #room} begins. */
    ByteBuffer work() {
        return work.clear();
    }

    /** Returns the part of {@link #work} for input, behind {@link #MAX_HELD} bytes. */
    MemorySegment room() {
        return room;
    }

    /** Returns the part of {@link #room} behind the bytes of a full {@link #input}. */
    MemorySegment rest() {
        return rest;
    }

    /** Returns the array in which records are encrypted, empty. */
    ByteBuffer output() {
        return output.clear();
    }

    /** Returns the array of {@link #output}. */
    MemorySegment records() {
        return records;
    }

    /** Returns an array of at least the given size for input that has to wait. */
    byte[] lend(int octets) {
        if (octets > RECORD_ROOM) {
            return new byte[octets];
        }
        byte[] array = spare.pollFirst();
        return array == null ? new byte[RECORD_ROOM] : array;
    }

    void release(byte[] array) {
        if (array.length == RECORD_ROOM && spare.size() < KEPT) {
            spare.addFirst(array);
        }
    }
}
