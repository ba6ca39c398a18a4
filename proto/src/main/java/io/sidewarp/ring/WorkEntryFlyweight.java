// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A work request in a ring, laid over a copy of its blocks. Element 0 is in the first block. An operand block follows
 * for Write with Immediate, Fetch Add and Compare Swap. The last blocks are element blocks with two elements each, or
 * payload blocks.
 *
 * <pre>
 *    0  sequence (8)
 *    8  id (8)
 *   16  connection (8)
 *   24  opcode (1)  blocks (1)  elements (1)  tag (1)  remote_stag (4)
 *   32  remote_offset (8)
 *   40  region (8)
 *   48  offset (8)
 *   56  length (4)  flags (4)
 * </pre>
 */
public final class WorkEntryFlyweight {

    public static final int ID_OFFSET = 8;
    public static final int CONNECTION_OFFSET = 16;
    public static final int OPCODE_OFFSET = 24;
    public static final int BLOCKS_OFFSET = 25;
    public static final int ELEMENTS_OFFSET = 26;
    public static final int TAG_OFFSET = 27;
    public static final int REMOTE_STAG_OFFSET = 28;
    public static final int REMOTE_OFFSET_OFFSET = 32;
    public static final int ELEMENT_OFFSET = 40;
    public static final int FLAGS_OFFSET = 60;

    public static final int ELEMENT_REGION_OFFSET = 0;
    public static final int ELEMENT_OFFSET_OFFSET = 8;
    public static final int ELEMENT_LENGTH_OFFSET = 16;
    public static final int ELEMENT_SIZE = 24;

    /** Offset of the first element in an element block; the second element follows. */
    public static final int ELEMENT_BLOCK_OFFSET = 8;

    public static final int OPERAND_OFFSET = 8;
    public static final int OPERAND_MASK_OFFSET = 16;
    public static final int COMPARE_OFFSET = 24;
    public static final int COMPARE_MASK_OFFSET = 32;

    public static final int OPCODE_WRITE = 1;
    public static final int OPCODE_READ = 2;
    public static final int OPCODE_SEND = 3;
    public static final int OPCODE_RECEIVE = 4;
    public static final int OPCODE_IMMEDIATE = 5;
    public static final int OPCODE_WRITE_WITH_IMMEDIATE = 6;
    public static final int OPCODE_FETCH_ADD = 7;
    public static final int OPCODE_COMPARE_SWAP = 8;
    public static final int OPCODE_LOCAL_INVALIDATE = 9;
    public static final int OPCODE_ENABLE = 10;
    public static final int OPCODE_FLUSH = 11;

    public static final int FLAG_FENCE = 1;
    public static final int FLAG_LOCAL_FENCE = 2;
    public static final int FLAG_UNSIGNALED = 4;
    public static final int FLAG_SOLICITED = 8;
    public static final int FLAG_INVALIDATE = 16;
    public static final int FLAG_WITH_FLUSH = 32;
    public static final int FLAG_SHARED = 64;
    public static final int FLAG_INLINE = 128;
    public static final int FLAGS = 255;

    public static final int MAX_ELEMENTS = 16;

    /** Blocks of the longest entry, which has an operand block and 16 elements. */
    public static final int MAX_BLOCKS = 10;

    /** Bytes of payload in a payload block, from offset 8 on. */
    public static final int BLOCK_PAYLOAD = 56;

    /** Maximum payload in bytes that an entry may carry itself. */
    public static final int MAX_INLINE = 256;

    private final MemorySegment entry;

    /**
     * Lays the flyweight over a buffer.
     *
     * @param entry {@link #MAX_BLOCKS} blocks, aligned to 8 bytes
     */
    public WorkEntryFlyweight(MemorySegment entry) {
        this.entry = entry;
    }

    public MemorySegment segment() {
        return entry;
    }

    /** Returns whether work of this kind has an operand block. */
    public static boolean hasOperands(int opcode) {
        return opcode == OPCODE_WRITE_WITH_IMMEDIATE || opcode == OPCODE_FETCH_ADD || opcode == OPCODE_COMPARE_SWAP;
    }

    /** Returns the number of blocks of an entry with a number of elements. */
    public static int blocks(int opcode, int elements) {
        return 1 + (hasOperands(opcode) ? 1 : 0) + Math.max(0, elements) / 2;
    }

    /**
     * Returns the number of blocks of an entry that carries its payload itself.
     *
     * @param length payload in bytes
     */
    public static int inlineBlocks(int opcode, int length) {
        return 1 + (hasOperands(opcode) ? 1 : 0) + Math.ceilDiv(length, BLOCK_PAYLOAD);
    }

    public long id() {
        return entry.get(ValueLayout.JAVA_LONG, ID_OFFSET);
    }

    public WorkEntryFlyweight id(long id) {
        entry.set(ValueLayout.JAVA_LONG, ID_OFFSET, id);
        return this;
    }

    /** Returns the connection, or with {@link #FLAG_SHARED} the shared receive queue. */
    public long connection() {
        return entry.get(ValueLayout.JAVA_LONG, CONNECTION_OFFSET);
    }

    public WorkEntryFlyweight connection(long connection) {
        entry.set(ValueLayout.JAVA_LONG, CONNECTION_OFFSET, connection);
        return this;
    }

    public int opcode() {
        return entry.get(ValueLayout.JAVA_BYTE, OPCODE_OFFSET) & 0xFF;
    }

    public WorkEntryFlyweight opcode(int opcode) {
        entry.set(ValueLayout.JAVA_BYTE, OPCODE_OFFSET, (byte) opcode);
        return this;
    }

    public int blocks() {
        return entry.get(ValueLayout.JAVA_BYTE, BLOCKS_OFFSET) & 0xFF;
    }

    public WorkEntryFlyweight blocks(int blocks) {
        entry.set(ValueLayout.JAVA_BYTE, BLOCKS_OFFSET, (byte) blocks);
        return this;
    }

    public int elements() {
        return entry.get(ValueLayout.JAVA_BYTE, ELEMENTS_OFFSET) & 0xFF;
    }

    public WorkEntryFlyweight elements(int elements) {
        entry.set(ValueLayout.JAVA_BYTE, ELEMENTS_OFFSET, (byte) elements);
        return this;
    }

    public int tag() {
        return entry.get(ValueLayout.JAVA_BYTE, TAG_OFFSET) & 0xFF;
    }

    public WorkEntryFlyweight tag(int tag) {
        entry.set(ValueLayout.JAVA_BYTE, TAG_OFFSET, (byte) tag);
        return this;
    }

    /** Returns the peer's STag, or with {@link #FLAG_INVALIDATE} the STag to invalidate. */
    public int remoteStag() {
        return entry.get(ValueLayout.JAVA_INT, REMOTE_STAG_OFFSET);
    }

    public WorkEntryFlyweight remoteStag(int stag) {
        entry.set(ValueLayout.JAVA_INT, REMOTE_STAG_OFFSET, stag);
        return this;
    }

    /** Returns the peer's tagged offset, or for Immediate Data the data. */
    public long remoteOffset() {
        return entry.get(ValueLayout.JAVA_LONG, REMOTE_OFFSET_OFFSET);
    }

    public WorkEntryFlyweight remoteOffset(long offset) {
        entry.set(ValueLayout.JAVA_LONG, REMOTE_OFFSET_OFFSET, offset);
        return this;
    }

    public int flags() {
        return entry.get(ValueLayout.JAVA_INT, FLAGS_OFFSET);
    }

    public WorkEntryFlyweight flags(int flags) {
        entry.set(ValueLayout.JAVA_INT, FLAGS_OFFSET, flags);
        return this;
    }

    /** Returns whether the entry carries its payload itself. */
    public boolean isInline() {
        return (flags() & FLAG_INLINE) != 0;
    }

    public long region(int element) {
        return entry.get(ValueLayout.JAVA_LONG, at(element) + ELEMENT_REGION_OFFSET);
    }

    public long offset(int element) {
        return entry.get(ValueLayout.JAVA_LONG, at(element) + ELEMENT_OFFSET_OFFSET);
    }

    /** Returns the length of an element in bytes, as an unsigned number. */
    public int length(int element) {
        return entry.get(ValueLayout.JAVA_INT, at(element) + ELEMENT_LENGTH_OFFSET);
    }

    /** Writes an element. Set the opcode before. The word behind element 0 is unchanged, because it holds the flags. */
    public WorkEntryFlyweight element(int element, long region, long offset, int length) {
        long at = at(element);
        entry.set(ValueLayout.JAVA_LONG, at + ELEMENT_REGION_OFFSET, region);
        entry.set(ValueLayout.JAVA_LONG, at + ELEMENT_OFFSET_OFFSET, offset);
        entry.set(ValueLayout.JAVA_INT, at + ELEMENT_LENGTH_OFFSET, length);
        if (element > 0) {
            entry.set(ValueLayout.JAVA_INT, at + ELEMENT_LENGTH_OFFSET + Integer.BYTES, 0);
        }
        return this;
    }

    private long at(int element) {
        if (element == 0) {
            return ELEMENT_OFFSET;
        }
        int block = (hasOperands(opcode()) ? 2 : 1) + (element - 1) / 2;
        return (long) block * RingLayout.BLOCK_SIZE + ELEMENT_BLOCK_OFFSET + (element - 1L) % 2 * ELEMENT_SIZE;
    }

    public long operand() {
        return entry.get(ValueLayout.JAVA_LONG, RingLayout.BLOCK_SIZE + OPERAND_OFFSET);
    }

    public long operandMask() {
        return entry.get(ValueLayout.JAVA_LONG, RingLayout.BLOCK_SIZE + OPERAND_MASK_OFFSET);
    }

    public long compare() {
        return entry.get(ValueLayout.JAVA_LONG, RingLayout.BLOCK_SIZE + COMPARE_OFFSET);
    }

    public long compareMask() {
        return entry.get(ValueLayout.JAVA_LONG, RingLayout.BLOCK_SIZE + COMPARE_MASK_OFFSET);
    }

    /** Writes the operand block. */
    public WorkEntryFlyweight operands(long operand, long operandMask, long compare, long compareMask) {
        entry.set(ValueLayout.JAVA_LONG, RingLayout.BLOCK_SIZE + OPERAND_OFFSET, operand);
        entry.set(ValueLayout.JAVA_LONG, RingLayout.BLOCK_SIZE + OPERAND_MASK_OFFSET, operandMask);
        entry.set(ValueLayout.JAVA_LONG, RingLayout.BLOCK_SIZE + COMPARE_OFFSET, compare);
        entry.set(ValueLayout.JAVA_LONG, RingLayout.BLOCK_SIZE + COMPARE_MASK_OFFSET, compareMask);
        return this;
    }

    /** Copies the payload of an entry with {@link #FLAG_INLINE}. The length is the length of element 0. */
    public void payload(MemorySegment target, long targetOffset, int length) {
        int block = hasOperands(opcode()) ? 2 : 1;
        for (int done = 0; done < length; done += BLOCK_PAYLOAD) {
            MemorySegment.copy(
                    entry,
                    (long) block++ * RingLayout.BLOCK_SIZE + ELEMENT_BLOCK_OFFSET,
                    target,
                    targetOffset + done,
                    Math.min(BLOCK_PAYLOAD, length - done));
        }
    }

    /** Writes the payload of an entry with {@link #FLAG_INLINE}. Set the opcode before. */
    public void payload(MemorySegment source) {
        int block = hasOperands(opcode()) ? 2 : 1;
        for (int done = 0; done < source.byteSize(); done += BLOCK_PAYLOAD) {
            MemorySegment.copy(
                    source,
                    done,
                    entry,
                    (long) block++ * RingLayout.BLOCK_SIZE + ELEMENT_BLOCK_OFFSET,
                    Math.min(BLOCK_PAYLOAD, source.byteSize() - done));
        }
    }
}
