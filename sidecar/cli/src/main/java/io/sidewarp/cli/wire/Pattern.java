// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Test data: bytes that depend on a seed and their position, and that repeat nowhere. */
public final class Pattern {

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long STEP = 0x9E3779B97F4A7C15L;

    private Pattern() {}

    /**
     * Fills memory with the part of the pattern that begins {@code start} bytes (a multiple of 8) after its beginning.
     */
    public static void fill(MemorySegment target, long seed, long start) {
        long octets = target.byteSize();
        long position = 0;
        for (; position + Long.BYTES <= octets; position += Long.BYTES) {
            target.set(WORD, position, word(seed, start + position));
        }
        for (; position < octets; position++) {
            target.set(ValueLayout.JAVA_BYTE, position, octet(seed, start, position));
        }
    }

    /** Fills memory like {@link #fill(MemorySegment, long, long)}, from the pattern's beginning. */
    public static void fill(MemorySegment target, long seed) {
        fill(target, seed, 0);
    }

    /** Returns the position of the first byte that differs from the pattern, or -1. */
    public static long firstDifference(MemorySegment memory, long seed) {
        long octets = memory.byteSize();
        long position = 0;
        while (position + Long.BYTES <= octets && memory.get(WORD, position) == word(seed, position)) {
            position += Long.BYTES;
        }
        for (; position < octets; position++) {
            if (memory.get(ValueLayout.JAVA_BYTE, position) != octet(seed, 0, position)) {
                return position;
            }
        }
        return -1;
    }

    private static byte octet(long seed, long start, long position) {
        long within = position & (Long.BYTES - 1);
        return (byte) (word(seed, start + position - within) >>> (Byte.SIZE * within));
    }

    /** Returns the eight bytes at a position that is a multiple of 8: a well mixed function of seed and position. */
    private static long word(long seed, long position) {
        long mixed = seed + (position + Long.BYTES) * STEP;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
