// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import java.util.Arrays;

/**
 * Counts the sent messages that the peer has acknowledged. The kernel reports only how many bytes of memory it still
 * keeps for messages, in the order in which they were sent. Each message holds at least its own length and the kernel's
 * overhead for it.
 *
 * <p>The last messages whose least memory fits into the reported bytes may be unacknowledged. The messages before them
 * are acknowledged. The count lags behind the truth, and is exact once the kernel keeps nothing.
 */
final class SentMessages {

    /**
     * Least overhead of a message in bytes. A message holds a struct sk_buff of about 230, a struct skb_shared_info of
     * about 320, and a struct sctp_chunk of about 280 bytes.
     */
    static final int LEAST_OVERHEAD = 256;

    private static final int INITIAL_CAPACITY = 64;

    private int[] lengths = new int[INITIAL_CAPACITY];
    private int first;
    private int count;
    private long least;
    private long acknowledged;

    /** Notes that a message was given to the kernel. */
    void add(int length) {
        if (count == lengths.length) {
            int[] larger = Arrays.copyOf(lengths, 2 * count);
            // The older part comes first again.
            System.arraycopy(lengths, first, larger, 0, count - first);
            System.arraycopy(lengths, 0, larger, count - first, first);
            lengths = larger;
            first = 0;
        }
        lengths[first + count & lengths.length - 1] = length + LEAST_OVERHEAD;
        count++;
        least += length + LEAST_OVERHEAD;
    }

    /** Returns whether messages may be unacknowledged. */
    boolean isWaiting() {
        return count > 0;
    }

    /** Returns whether {@link #settle} is due before further messages, so that the table stays small. */
    boolean isCrowded() {
        return count == lengths.length;
    }

    /** @param kept bytes that the kernel keeps for messages */
    void settle(long kept) {
        while (least > kept) {
            least -= lengths[first];
            first = first + 1 & lengths.length - 1;
            count--;
            acknowledged++;
        }
    }

    /** Returns how many messages are acknowledged, counted from the first without a gap. */
    long acknowledged() {
        return acknowledged;
    }
}
