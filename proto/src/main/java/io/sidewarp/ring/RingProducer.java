// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.function.LongConsumer;

/**
 * The side of a ring that writes entries. It accepts only possible values of {@code consumed}. Access to a file that
 * was cut short throws InternalError. Allocates nothing. Not thread-safe.
 */
public final class RingProducer {

    private static final int BLOCK_WORDS = RingLayout.BLOCK_SIZE / Long.BYTES;

    /** Position of the tag in the word at {@link WorkEntryFlyweight#OPCODE_OFFSET}. */
    private static final int TAG_SHIFT =
            NativeOrder.shiftOfByte(WorkEntryFlyweight.TAG_OFFSET - WorkEntryFlyweight.OPCODE_OFFSET);

    private final MemorySegment file;
    private final int blocks;
    private final long mask;
    private long position;
    private long consumed;

    /**
     * Makes the writing side of a ring.
     *
     * @param file mapped file, with a header
     * @param blocks blocks of the ring, a power of two
     */
    public RingProducer(MemorySegment file, int blocks) {
        this.file = file;
        this.blocks = blocks;
        this.mask = blocks - 1L;
    }

    public MemorySegment file() {
        return file;
    }

    /** Returns the number of blocks of the ring. */
    public int blocks() {
        return blocks;
    }

    /** Returns the number of blocks that are written and not consumed, as far as this side knows. */
    public int unconsumed() {
        return (int) (position - consumed);
    }

    /** Returns whether a number of blocks is free. Reads the consumer's word only if necessary. */
    public boolean hasRoom(int count) {
        return position - consumed + count <= blocks || refresh() + count <= blocks;
    }

    /** Returns whether a number of blocks may be free. Any thread may call it; the answer may be out of date. */
    public boolean seemsToHaveRoom(int count) {
        long told = (long) RingLayout.LONG.getAcquire(file, (long) RingLayout.CONSUMED_OFFSET);
        return position - told + count <= blocks;
    }

    /**
     * Reads the consumer's word.
     *
     * @return number of blocks that are written and not consumed
     */
    public int refresh() {
        long told = (long) RingLayout.LONG.getAcquire(file, (long) RingLayout.CONSUMED_OFFSET);
        if (told - consumed > 0 && told - position <= 0) {
            consumed = told;
        }
        return (int) (position - consumed);
    }

    /** Asks the consumer to wake this side when it frees blocks. Call {@link #hasRoom} once more before sleeping. */
    public void armForRoom() {
        RingLayout.INT.setRelease(file, (long) RingLayout.PRODUCER_WAITS_OFFSET, 1);
        VarHandle.fullFence();
    }

    /** Cancels the request for a wake-up. */
    public void disarm() {
        RingLayout.INT.setRelease(file, (long) RingLayout.PRODUCER_WAITS_OFFSET, 0);
    }

    /**
     * Publishes an entry. There must be room.
     *
     * @param entry blocks of the entry, whose sequences this method writes
     * @param count number of blocks
     */
    public void publish(MemorySegment entry, int count) {
        long first = at(position);
        for (int i = count - 1; i > 0; i--) {
            long block = at(position + i);
            copyBlock(entry, (long) i * RingLayout.BLOCK_SIZE, block);
            file.set(ValueLayout.JAVA_LONG, block, position + i + 1);
        }
        copyBlock(entry, 0, first);
        RingLayout.LONG.setRelease(file, first, position + 1);
        position += count;
    }

    /**
     * Publishes an entry that was prepared once and is posted many times. There must be room.
     *
     * @param words 8 words for each block, of a {@link WorkEntryFlyweight} whose id and tag are 0; sequences are
     *     ignored
     * @param count number of blocks
     */
    public void publish(long[] words, int count, long id, int tag) {
        for (int i = count - 1; i > 0; i--) {
            long block = at(position + i);
            copyWords(words, i * BLOCK_WORDS, block, 1);
            file.set(ValueLayout.JAVA_LONG, block, position + i + 1);
        }
        long first = at(position);
        file.set(ValueLayout.JAVA_LONG, first + WorkEntryFlyweight.ID_OFFSET, id);
        file.set(ValueLayout.JAVA_LONG, first + WorkEntryFlyweight.CONNECTION_OFFSET, words[2]);
        file.set(ValueLayout.JAVA_LONG, first + WorkEntryFlyweight.OPCODE_OFFSET, words[3] | (long) tag << TAG_SHIFT);
        copyWords(words, 0, first, 4);
        RingLayout.LONG.setRelease(file, first, position + 1);
        position += count;
    }

    private void copyWords(long[] words, int from, long block, int begin) {
        for (int word = begin; word < BLOCK_WORDS; word++) {
            file.set(ValueLayout.JAVA_LONG, block + (long) word * Long.BYTES, words[from + word]);
        }
    }

    /**
     * Passes on the connection of each entry that the consumer has not taken, except receives for shared receive
     * queues.
     */
    public void forEachUnconsumed(LongConsumer connection) {
        refresh();
        for (long block = consumed; block < position; ) {
            long at = at(block);
            if ((file.get(ValueLayout.JAVA_INT, at + WorkEntryFlyweight.FLAGS_OFFSET) & WorkEntryFlyweight.FLAG_SHARED)
                    == 0) {
                connection.accept(file.get(ValueLayout.JAVA_LONG, at + WorkEntryFlyweight.CONNECTION_OFFSET));
            }
            block += Math.max(1, file.get(ValueLayout.JAVA_BYTE, at + WorkEntryFlyweight.BLOCKS_OFFSET));
        }
    }

    /** Copies a block except its sequence. */
    private void copyBlock(MemorySegment entry, long from, long to) {
        for (long word = Long.BYTES; word < RingLayout.BLOCK_SIZE; word += Long.BYTES) {
            file.set(ValueLayout.JAVA_LONG, to + word, entry.get(ValueLayout.JAVA_LONG, from + word));
        }
    }

    /**
     * Checks for a sleeping consumer, after one or more entries. If there is one, the caller must wake it.
     *
     * @param urgent whether an entry is solicited or failed; false does not wake a consumer that waits only for such
     *     entries
     */
    public boolean takeSleeper(boolean urgent) {
        VarHandle.fullFence();
        int waits = (int) RingLayout.INT.get(file, (long) RingLayout.CONSUMER_WAITS_OFFSET);
        if (waits == RingLayout.WAITS_FOR_SOLICITED && !urgent) {
            return false;
        }
        return RingLayout.takeWish(file, RingLayout.CONSUMER_WAITS_OFFSET);
    }

    private long at(long block) {
        return RingLayout.DATA_OFFSET + (block & mask) * RingLayout.BLOCK_SIZE;
    }
}
