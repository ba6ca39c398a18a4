// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

/**
 * Follows the TSNs of the DATA chunks of one direction and the peer's Cumulative TSN Acks. Messages get consecutive TSNs in
 * the order in which they were given to SCTP, one each, so that this tells exactly which messages have arrived (RFC 4960
 * section 6.2), without a question to the stack.
 */
final class TsnTracker {

    private boolean started;
    private int highestSent;
    private int cumulativeAck;
    private long sent;
    private long acknowledged;
    private long retransmitted;

    /** A DATA chunk leaves. The first one ever has the Initial TSN. */
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

    /** The peer has all chunks up to this one. What cannot be is ignored. */
    void onAcknowledged(int tsn) {
        int distance = tsn - cumulativeAck;
        if (started && distance > 0 && tsn - highestSent <= 0) {
            acknowledged += distance;
            cumulativeAck = tsn;
        }
    }

    /** Chunks sent, not counting retransmissions. */
    long sent() {
        return sent;
    }

    /** Chunks acknowledged, from the first without a gap. */
    long acknowledged() {
        return acknowledged;
    }

    long retransmitted() {
        return retransmitted;
    }
}
