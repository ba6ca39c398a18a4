// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import java.util.Arrays;

/**
 * Tells how many of the messages that were sent the peer has acknowledged, from what the kernel does tell: the octets of
 * memory that the messages hold which it still keeps, in the order in which they were sent. Each of them holds at least its
 * own length and what the kernel needs to manage it. So the last messages whose least memory fits into those octets may be
 * unacknowledged, and the ones before are acknowledged. That lags behind the truth, and is exact once nothing is kept.
 */
final class SentMessages {

    /**
     * Octets that a message holds besides its own, at least: a struct sk_buff and a struct skb_shared_info, which have about
     * 230 and 320, and a struct sctp_chunk, which has about 280.
     */
    static final int LEAST_OVERHEAD = 256;

    private static final int INITIAL_CAPACITY = 64;

    private int[] lengths = new int[INITIAL_CAPACITY];
    private int first;
    private int count;
    private long least;
    private long acknowledged;

    /** A message was given to the kernel. */
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

    /** Whether messages may be unacknowledged. */
    boolean isWaiting() {
        return count > 0;
    }

    /** Whether {@link #settle} is due before further messages, so that few of them are kept in mind. */
    boolean isCrowded() {
        return count == lengths.length;
    }

    /** @param kept octets that the kernel keeps for messages */
    void settle(long kept) {
        while (least > kept) {
            least -= lengths[first];
            first = first + 1 & lengths.length - 1;
            count--;
            acknowledged++;
        }
    }

    /** Messages that are acknowledged, counted from the first without a gap. */
    long acknowledged() {
        return acknowledged;
    }
}
