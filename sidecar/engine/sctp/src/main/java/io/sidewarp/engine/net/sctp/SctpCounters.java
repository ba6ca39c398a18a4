// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

/**
 * Counters of an endpoint.
 *
 * @param receivedPackets datagrams from strangers and peers
 * @param sentPackets datagrams
 * @param malformed datagrams that were no SCTP packet, dropped
 * @param badChecksum packets with a wrong CRC32c, dropped
 * @param outOfTheBlue packets that belong to no association and have no listener
 * @param portMoves how often a peer continued from another UDP port
 * @param halfOpenEvicted half-open associations that were evicted for newer ones
 * @param halfOpenExpired half-open associations whose time was over
 * @param refused associations of peers above the limit
 * @param outputDropped packets dropped because too many waited for the UDP socket
 */
public record SctpCounters(
        long receivedPackets,
        long sentPackets,
        long malformed,
        long badChecksum,
        long outOfTheBlue,
        long portMoves,
        long halfOpenEvicted,
        long halfOpenExpired,
        long refused,
        long outputDropped) {}
