// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

/** Limits whose excess costs the peer the TCP connection, or the SCTP association. */
public enum PeerLimit {
    /**
     * The peer acknowledged nothing for {@link NetSettings#stallTimeout}; or it read less than a buffer while others waited for
     * one.
     */
    STALL,
    /**
     * The peer left an FPDU incomplete for {@link NetSettings#stallTimeout}; or longer than all others when these together took
     * too much memory.
     */
    INCOMPLETE_FPDU,
    /** The peer did not close its side within {@link NetSettings#lingerTimeout}. */
    LINGER
}
