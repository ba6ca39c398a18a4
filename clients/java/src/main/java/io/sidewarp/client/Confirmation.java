// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Record of the peer's confirmations for the data posted to a connection. Only answers of the peer confirm data: the
 * answers to Reads, atomic operations and flushes. Each answer confirms everything posted before it. Allocates nothing.
 */
final class Confirmation {

    private long posted;
    /** Ticket of the last work that carries data to the peer. */
    private long lastData;
    /** Highest ticket that was answered. */
    private long answered;

    /**
     * Counts a work request that is posted.
     *
     * @param data whether the request carries data to the peer
     * @return ticket of the request, for {@link #answered}
     */
    synchronized long posted(boolean data) {
        posted++;
        if (data) {
            lastData = posted;
        }
        return posted;
    }

    /** Records that the work with a ticket succeeded by an answer of the peer. */
    synchronized void answered(long ticket) {
        answered = Math.max(answered, ticket);
    }

    /** Returns whether data was posted that no answer confirms. */
    synchronized boolean isMissing() {
        return lastData > answered;
    }
}
