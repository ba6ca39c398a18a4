// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

/** Counters of an endpoint. Packets are datagrams, also those of strangers. */
public enum SctpCounter {
    SENT_PACKETS,
    /** Datagrams that were no SCTP packet, dropped. */
    MALFORMED,
    /** Packets with a wrong CRC32c, dropped. */
    BAD_CHECKSUM,
    /** Times that a peer continued from another UDP port. */
    PORT_MOVES,
    /** Half-open associations that were evicted for newer ones. */
    HALF_OPEN_EVICTED,
    /** Half-open associations whose time was over. */
    HALF_OPEN_EXPIRED,
    /** Associations of peers above the limit. */
    REFUSED
}
