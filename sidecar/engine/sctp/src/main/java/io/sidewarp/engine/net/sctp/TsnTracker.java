// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

/**
 * Follows the TSNs of the DATA chunks of one direction and the peer's Cumulative TSN Acks. Messages get consecutive
 * TSNs, one each, in the order in which they were given to SCTP. The TSNs therefore tell exactly which messages have
 * arrived (RFC 4960 section 6.2), without a question to the stack.
 */
final class TsnTracker {

    private boolean started;
    private int highestSent;
    private int cumulativeAck;
    private long sent;
    private long acknowledged;
    private long retransmitted;

    /** Notes that a DATA chunk leaves. The very first chunk has the Initial TSN. */
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

    /** Notes that the peer has all chunks up to the given one. Impossible values are ignored. */
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

    /** Returns the number of chunks acknowledged, from the first without a gap. */
    long acknowledged() {
        return acknowledged;
    }

    long retransmitted() {
        return retransmitted;
    }
}
