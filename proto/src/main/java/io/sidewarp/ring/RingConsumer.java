// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The side of a ring that reads entries. An access to a file that was cut short throws InternalError. Allocates nothing. Not
 * thread-safe.
 */
public final class RingConsumer {

    /** The entry does not say how long it is: no later one can be found. */
    public static final int BROKEN = -1;

    private final MemorySegment file;
    private final int maxBlocks;
    private final long mask;
    private long position;
    private long told;

    /**
     * @param file mapped, with a header
     * @param blocks of the ring, a power of two
     * @param maxBlocks of one entry
     */
    public RingConsumer(MemorySegment file, int blocks, int maxBlocks) {
        this.file = file;
        this.maxBlocks = maxBlocks;
        this.mask = blocks - 1L;
    }

    public MemorySegment file() {
        return file;
    }

    /** Returns whether an entry is there. */
    public boolean isReady() {
        return (long) RingLayout.LONG.getAcquire(file, at(position)) == position + 1;
    }

    /**
     * Copies the oldest entry, which must be there, and leaves it in the ring.
     *
     * @param entry takes the blocks; room for the longest entry
     * @return its blocks, or {@link #BROKEN}
     */
    public int copy(MemorySegment entry) {
        copyBlock(entry, 0, position);
        int count = entry.get(ValueLayout.JAVA_BYTE, WorkEntryFlyweight.BLOCKS_OFFSET) & 0xFF;
        if (count < 1 || count > maxBlocks) {
            return BROKEN;
        }
        for (int i = 1; i < count; i++) {
            copyBlock(entry, (long) i * RingLayout.BLOCK_SIZE, position + i);
        }
        return count;
    }

    private void copyBlock(MemorySegment entry, long to, long block) {
        long from = at(block);
        for (long word = 0; word < RingLayout.BLOCK_SIZE; word += Long.BYTES) {
            entry.set(ValueLayout.JAVA_LONG, to + word, file.get(ValueLayout.JAVA_LONG, from + word));
        }
    }

    /** Goes past an entry of so many blocks. The producer learns of it by {@link #release}. */
    public void advance(int count) {
        position += count;
    }

    /** Returns the blocks that {@link #release} has to tell. */
    public int unreleased() {
        return (int) (position - told);
    }

    /**
     * Gives the blocks of the entries so far back.
     *
     * @return whether the producer waits for blocks; the caller then has to wake it
     */
    public boolean release() {
        if (told == position) {
            return false;
        }
        told = position;
        RingLayout.LONG.setRelease(file, (long) RingLayout.CONSUMED_OFFSET, position);
        VarHandle.fullFence();
        return RingLayout.takeWish(file, RingLayout.PRODUCER_WAITS_OFFSET);
    }

    /**
     * Asks the producer to wake this side.
     *
     * @param waits one of the values WAITS_ of {@link RingLayout}
     * @return whether an entry is there all the same: do not sleep then
     */
    public boolean arm(int waits) {
        RingLayout.INT.setRelease(file, (long) RingLayout.CONSUMER_WAITS_OFFSET, waits);
        VarHandle.fullFence();
        return isReady();
    }

    /** Takes the wish back. */
    public void disarm() {
        RingLayout.INT.setRelease(file, (long) RingLayout.CONSUMER_WAITS_OFFSET, RingLayout.WAITS_NOT);
    }

    private long at(long block) {
        return RingLayout.DATA_OFFSET + (block & mask) * RingLayout.BLOCK_SIZE;
    }
}
