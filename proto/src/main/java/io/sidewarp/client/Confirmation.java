// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Tells whether the peer is known to have placed what was posted to a connection. Only answers of the peer tell: those to Reads,
 * atomic operations and flushes, which come in the order of posting. Allocates nothing.
 */
final class Confirmation {

    private long answersAsked;
    private long answers;
    /** Answers that had been asked for when data was posted last, or -1 without data. */
    private long askedBeforeData = -1;

    /**
     * Work is posted.
     *
     * @param data it carries data to the peer
     * @param answer its completion tells of an answer of the peer
     */
    synchronized void posted(boolean data, boolean answer) {
        if (data) {
            askedBeforeData = answersAsked;
        }
        if (answer) {
            answersAsked++;
        }
    }

    /** Work succeeded whose completion tells of an answer of the peer. */
    synchronized void answered() {
        answers++;
    }

    /** Data was posted that no answer confirms. */
    synchronized boolean isMissing() {
        return askedBeforeData >= 0 && answers <= askedBeforeData;
    }
}
