// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

/**
 * States of an RDMAP stream in RDMA mode (RFC 5040 section 6.2). A stream may enter any later state, and never returns
 * to an earlier state. A graceful close may still end with an error, and the lower layer's stream can be lost in any
 * state.
 */
public enum StreamState {
    /** Messages flow both ways. */
    OPEN,
    /** A graceful close by either side is under way. */
    CLOSING,
    /** A Terminate was sent or received, or is about to be sent. */
    TERMINATED,
    /** The lower layer's stream is gone. */
    CLOSED
}
