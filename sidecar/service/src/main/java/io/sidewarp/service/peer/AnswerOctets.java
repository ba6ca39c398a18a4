// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

/**
 * What one call has of the octets of answers that the client did not read. HTTP/2 keeps messages until the window of their
 * call is open, also when the call has ended for its handler. Thread-safe.
 */
final class AnswerOctets implements AnswerQuota {

    private final ApiConnection connection;
    private long held;
    private boolean ended;

    AnswerOctets(ApiConnection connection) {
        this.connection = connection;
    }

    @Override
    public synchronized void takeAnswerOctets(long octets) {
        if (!ended) {
            connection.takeAnswerOctets(octets);
            held += octets;
        }
    }

    @Override
    public synchronized void giveAnswerOctets(long octets) {
        if (!ended) {
            connection.giveAnswerOctets(octets);
            held -= octets;
        }
    }

    /** The client has taken all of the call, or is gone. */
    synchronized void end() {
        if (!ended) {
            ended = true;
            connection.giveAnswerOctets(held);
        }
    }
}
