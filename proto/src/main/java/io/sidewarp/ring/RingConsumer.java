// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The side of a ring that reads entries. Access to a file that was cut short throws InternalError. Allocates nothing.
 * Not thread-safe.
 */
public final class RingConsumer {

    /** Result for an entry with an invalid length, behind which no later entry can be found. */
    public static final int BROKEN = -1;

    private final MemorySegment file;
    private final int maxBlocks;
    private final long mask;
    private long position;
    private long told;

    /**
     * Makes the reading side of a ring.
     *
     * @param file mapped file, with a header
     * @param blocks blocks of the ring, a power of two
     * @param maxBlocks blocks of the longest entry
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
     * @param entry takes the blocks; has room for the longest entry
     * @return number of blocks, or {@link #BROKEN}
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

    /**
     * Advances past an entry. The producer learns of it by {@link #release}.
     *
     * @param count blocks of the entry
     */
    public void advance(int count) {
        position += count;
    }

    /** Returns the number of consumed blocks that {@link #release} has not yet returned to the producer. */
    public int unreleased() {
        return (int) (position - told);
    }

    /**
     * Returns the blocks of all consumed entries to the producer.
     *
     * @return whether the producer waits for blocks; if so, the caller must wake it
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
     * @param waits one of the WAITS_ values of {@link RingLayout}
     * @return whether there is already an entry; the caller must not sleep then
     */
    public boolean arm(int waits) {
        RingLayout.INT.setRelease(file, (long) RingLayout.CONSUMER_WAITS_OFFSET, waits);
        VarHandle.fullFence();
        return isReady();
    }

    /** Cancels the request for a wake-up. */
    public void disarm() {
        RingLayout.INT.setRelease(file, (long) RingLayout.CONSUMER_WAITS_OFFSET, RingLayout.WAITS_NOT);
    }

    private long at(long block) {
        return RingLayout.DATA_OFFSET + (block & mask) * RingLayout.BLOCK_SIZE;
    }
}
