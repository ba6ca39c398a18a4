// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

/** Limits of a TCP connection whose excess costs the peer the connection. */
public enum PeerLimit {
    /** The peer read nothing for {@link NetSettings#stallTimeout}. */
    STALL,
    /** The peer left an FPDU incomplete for {@link NetSettings#stallTimeout}. */
    INCOMPLETE_FPDU,
    /** The peer did not close its side within {@link NetSettings#lingerTimeout}. */
    LINGER
}
