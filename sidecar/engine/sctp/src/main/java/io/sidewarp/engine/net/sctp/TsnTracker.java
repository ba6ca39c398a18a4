// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

/**
 * Tracks the TSNs of the DATA chunks of one direction and the peer's Cumulative TSN Acks. Each message gets one TSN.
 * TSNs are consecutive, in the order in which SCTP got the messages. The peer's acks therefore show which messages have
 * arrived (RFC 4960 section 6.2), without a query to the SCTP stack.
 */
final class TsnTracker {

    private boolean started;
    private int highestSent;
    private int cumulativeAck;
    private long sent;
    private long acknowledged;
    private long retransmitted;

    /** Records a DATA chunk that is sent. The first chunk has the Initial TSN. */
    void onSent(int tsn) {
        if (!started) {
            started = true;
            highestSent = tsn - 1;
            cumulativeAck = tsn - 1;
        }
        int distance = tsn - highestSent;
        if (distance > 0) {
            sent += distance;
            highestSent = tsn;
        } else {
            retransmitted++;
        }
    }

    /**
     * Records that the peer has all chunks up to this TSN. Ignores a TSN that was never sent or was acknowledged
     * before.
     */
    void onAcknowledged(int tsn) {
        int distance = tsn - cumulativeAck;
        if (started && distance > 0 && tsn - highestSent <= 0) {
            acknowledged += distance;
            cumulativeAck = tsn;
        }
    }

    /** Returns the number of chunks sent, not counting retransmissions. */
    long sent() {
        return sent;
    }

    /** Returns the number of acknowledged chunks, counted from the first chunk up to the first gap. */
    long acknowledged() {
        return acknowledged;
    }

    long retransmitted() {
        return retransmitted;
    }
}
