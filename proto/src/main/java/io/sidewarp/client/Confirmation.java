// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Tells whether the peer is known to have placed what was posted to a connection. Only answers of the peer tell: those to Reads,
 * atomic operations and flushes, each for everything posted before. Allocates nothing.
 */
final class Confirmation {

    private long posted;
    /** Ticket of the last work that carries data to the peer. */
    private long lastData;
    /** The highest ticket that was answered. */
    private long answered;

    /**
     * Work is posted.
     *
     * @param data it carries data to the peer
     * @return its ticket, for {@link #answered}
     */
    synchronized long posted(boolean data) {
        posted++;
        if (data) {
            lastData = posted;
        }
        return posted;
    }

    /** Work with a ticket succeeded by an answer of the peer. */
    synchronized void answered(long ticket) {
        answered = Math.max(answered, ticket);
    }

    /** Data was posted that no answer confirms. */
    synchronized boolean isMissing() {
        return lastData > answered;
    }
}
