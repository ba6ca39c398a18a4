// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/** States of a queue pair. */
public enum QueuePairState {
    /** Created: takes receives, no send work. */
    IDLE,
    /** The lower layer's start-up is under way. */
    CONNECTING,
    /** Ready to send: RDMA mode. */
    RTS,
    /** A graceful close by either side is under way. No new send work. */
    CLOSING,
    /** An error was found here or reported by the peer; outstanding work is flushed. */
    TERMINATE,
    /** The stream is gone. Last state. */
    CLOSED
}
