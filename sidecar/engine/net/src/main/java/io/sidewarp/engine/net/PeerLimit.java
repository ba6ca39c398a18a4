// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

/** Limits of a peer. A peer that exceeds one loses the TCP connection or the SCTP association. */
public enum PeerLimit {
    /**
     * The peer acknowledged nothing for {@link NetSettings#stallTimeout}, or read less than a buffer in this time while
     * others waited for a buffer.
     */
    STALL,
    /**
     * The peer left an FPDU incomplete for {@link NetSettings#stallTimeout}. Or all incomplete FPDUs together took too
     * much memory, and this FPDU was the oldest.
     */
    INCOMPLETE_FPDU,
    /** The peer did not close its side within {@link NetSettings.Timeouts#linger}. */
    LINGER
}
