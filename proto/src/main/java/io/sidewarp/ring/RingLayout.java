// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The header of a ring file and the size of its blocks.
 *
 * <pre>
 *    0  magic  version  kind  data_offset      written by the sidecar
 *   16  blocks  block_size  ring
 *   32  completion_ring
 *  128  producer_waits
 *  256  consumed
 *  384  consumer_waits
 *  448  state
 *  512  blocks of 64 bytes
 * </pre>
 */
public final class RingLayout {

    /** First word of a ring file; another value means another byte order, or no ring. */
    public static final int MAGIC = 0x53575247;

    public static final int VERSION = 1;

    public static final int KIND_SEND = 1;
    public static final int KIND_RECEIVE = 2;
    public static final int KIND_COMPLETION = 3;

    public static final int MAGIC_OFFSET = 0;
    public static final int VERSION_OFFSET = 4;
    public static final int KIND_OFFSET = 8;
    public static final int DATA_OFFSET_OFFSET = 12;
    public static final int BLOCKS_OFFSET = 16;
    public static final int BLOCK_SIZE_OFFSET = 20;
    public static final int RING_OFFSET = 24;
    public static final int COMPLETION_RING_OFFSET = 32;

    /** Word of the producer: 1 while the producer waits for free blocks. */
    public static final int PRODUCER_WAITS_OFFSET = 128;

    /** Word of the consumer: number of blocks that it has taken since the beginning. */
    public static final int CONSUMED_OFFSET = 256;

    /** Word of the consumer: one of the WAITS_ values. */
    public static final int CONSUMER_WAITS_OFFSET = 384;

    /** Word of the sidecar: one of the STATE_ values. */
    public static final int STATE_OFFSET = 448;

    /** Offset of the first block. */
    public static final int DATA_OFFSET = 512;

    public static final int BLOCK_SIZE = 64;

    /** Blocks of the shortest ring, which has room for the longest entry. */
    public static final int MIN_BLOCKS = 16;

    /** Consumer polls and needs no wake-up. */
    public static final int WAITS_NOT = 0;

    /** Consumer sleeps; the producer must wake it for every entry. */
    public static final int WAITS_FOR_ANY = 1;

    /** Consumer sleeps; the producer must wake it for solicited and failed completions. */
    public static final int WAITS_FOR_SOLICITED = 2;

    public static final int STATE_OPEN = 0;
    public static final int STATE_ENDED = 1;

    static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private RingLayout() {}

    /** Returns the length in bytes of a file with a number of blocks. */
    public static long fileLength(int blocks) {
        return DATA_OFFSET + (long) blocks * BLOCK_SIZE;
    }

    /** Writes the header of a new file, whose bytes are all zero. */
    public static void initialize(MemorySegment file, int kind, int blocks, long ring, long completionRing) {
        file.set(ValueLayout.JAVA_INT, VERSION_OFFSET, VERSION);
        file.set(ValueLayout.JAVA_INT, KIND_OFFSET, kind);
        file.set(ValueLayout.JAVA_INT, DATA_OFFSET_OFFSET, DATA_OFFSET);
        file.set(ValueLayout.JAVA_INT, BLOCKS_OFFSET, blocks);
        file.set(ValueLayout.JAVA_INT, BLOCK_SIZE_OFFSET, BLOCK_SIZE);
        file.set(ValueLayout.JAVA_LONG, RING_OFFSET, ring);
        file.set(ValueLayout.JAVA_LONG, COMPLETION_RING_OFFSET, completionRing);
        INT.setRelease(file, (long) MAGIC_OFFSET, MAGIC);
    }

    /**
     * Checks the header of a mapped file.
     *
     * @throws IllegalArgumentException if the file is not a ring that this class knows
     */
    public static void check(MemorySegment file, int kind, int blocks) {
        expect("magic", MAGIC, file.get(ValueLayout.JAVA_INT, MAGIC_OFFSET));
        expect("version", VERSION, file.get(ValueLayout.JAVA_INT, VERSION_OFFSET));
        expect("kind", kind, file.get(ValueLayout.JAVA_INT, KIND_OFFSET));
        expect("blocks", blocks, file.get(ValueLayout.JAVA_INT, BLOCKS_OFFSET));
        expect("block_size", BLOCK_SIZE, file.get(ValueLayout.JAVA_INT, BLOCK_SIZE_OFFSET));
        expect("data_offset", DATA_OFFSET, file.get(ValueLayout.JAVA_INT, DATA_OFFSET_OFFSET));
    }

    /** Returns the number of blocks in the header. */
    public static int blocks(MemorySegment file) {
        return file.get(ValueLayout.JAVA_INT, BLOCKS_OFFSET);
    }

    private static void expect(String field, int expected, int found) {
        if (expected != found) {
            throw new IllegalArgumentException("the ring file has " + field + " " + found + "; expected " + expected
                    + "; use a client and a sidecar of the same version");
        }
    }

    /**
     * Takes the other side's request for a wake-up, if there is one. This may take a later request too: the wake-up
     * that follows serves both.
     *
     * <p>The method uses a load and a store. A compare-and-set in HotSpot's interpreter crashes the process if the file
     * was cut short.
     */
    static boolean takeWish(MemorySegment file, int offset) {
        if ((int) INT.getAcquire(file, (long) offset) == WAITS_NOT) {
            return false;
        }
        INT.setRelease(file, (long) offset, WAITS_NOT);
        return true;
    }

    /** Returns whether the sidecar has ended the ring. */
    public static boolean isEnded(MemorySegment file) {
        return (int) INT.getAcquire(file, (long) STATE_OFFSET) == STATE_ENDED;
    }

    /** Tells the application that the ring has ended. */
    public static void end(MemorySegment file) {
        INT.setRelease(file, (long) STATE_OFFSET, STATE_ENDED);
    }
}
