// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Buffer for bytes to or from the wire. The buffer is one block of direct memory. The data path uses the memory as an
 * NIO buffer and as a segment; both views are created once. Offsets are absolute, and multi-byte fields are big-endian.
 * Not thread-safe; an event loop owns the buffer.
 */
public final class WireBuffer {

    private final ByteBuffer nio;
    private final MemorySegment segment;

    private WireBuffer(ByteBuffer nio) {
        this.nio = nio;
        this.segment = MemorySegment.ofBuffer(nio);
    }

    /** Allocates zeroed direct memory of the given number of bytes. */
    public static WireBuffer allocate(int capacity) {
        return new WireBuffer(ByteBuffer.allocateDirect(capacity).order(ByteOrder.BIG_ENDIAN));
    }

    /** Creates a buffer with a copy of the bytes, for tests and start-up frames. */
    public static WireBuffer copyOf(byte[] octets) {
        WireBuffer buffer = allocate(octets.length);
        buffer.putBytes(0, octets, 0, octets.length);
        return buffer;
    }

    /** Returns the capacity in bytes. */
    public int capacity() {
        return nio.capacity();
    }

    /** Returns the memory as an NIO buffer. Any caller may change position and limit, so set them before use. */
    public ByteBuffer nio() {
        return nio;
    }

    /** Returns the memory as a segment. */
    public MemorySegment segment() {
        return segment;
    }

    public int getUnsignedByte(int offset) {
        return nio.get(offset) & 0xFF;
    }

    public void putByte(int offset, int value) {
        nio.put(offset, (byte) value);
    }

    public int getUnsignedShort(int offset) {
        return nio.getShort(offset) & 0xFFFF;
    }

    public void putShort(int offset, int value) {
        nio.putShort(offset, (short) value);
    }

    public int getInt(int offset) {
        return nio.getInt(offset);
    }

    public void putInt(int offset, int value) {
        nio.putInt(offset, value);
    }

    public long getLong(int offset) {
        return nio.getLong(offset);
    }

    public void putLong(int offset, long value) {
        nio.putLong(offset, value);
    }

    public void getBytes(int offset, byte[] target, int targetOffset, int length) {
        nio.get(offset, target, targetOffset, length);
    }

    public void putBytes(int offset, byte[] source, int sourceOffset, int length) {
        nio.put(offset, source, sourceOffset, length);
    }

    /** Copies bytes from another buffer, or within this buffer. The ranges may overlap. */
    public void putBytes(int offset, WireBuffer source, int sourceOffset, int length) {
        MemorySegment.copy(source.segment, sourceOffset, segment, offset, length);
    }
}
