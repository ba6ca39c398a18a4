// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/**
 * States of a queue pair, in the words of verbs (RFC 5040 section 6.2). A queue pair never returns to an earlier state.
 *
 * <pre>
 *   IDLE         --> CONNECTING   connect, or the accept of a request
 *   CONNECTING   --> RTS          start-up is complete
 *   CONNECTING   --> TERMINATE    start-up ends with a Terminate (RFC 6581 section 9)
 *   RTS          --> CLOSING      graceful close by this side or the peer
 *   RTS, CLOSING --> TERMINATE    an error, found here or reported by the peer
 *   any          --> CLOSED       the end: also an abort, a lost stream, a failed start-up
 * </pre>
 */
public enum QueuePairState {
    /** Created. Takes receives, but no send work. */
    IDLE,
    /** The lower layer's start-up is under way. */
    CONNECTING,
    /** Ready to send: RDMA mode. */
    RTS,
    /** A graceful close by either side is under way. Takes no new send work. */
    CLOSING,
    /** An error was found here or reported by the peer; outstanding work is flushed. */
    TERMINATE,
    /** The stream is gone. Final state. */
    CLOSED
}
