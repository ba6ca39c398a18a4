// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.peer;

import java.io.IOException;

/** Stream of messages over a TCP socket, with the least work that its protocol needs. */
interface BareStream extends AutoCloseable {

    /**
     * Sends messages for about the given time, and waits for the acknowledgement.
     *
     * @return number of messages
     */
    long send(long nanos) throws IOException;

    /** Receives messages and acknowledges each run, until the peer closes. */
    void receive() throws IOException;

    @Override
    void close() throws IOException;
}
