// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

/**
 * What an endpoint has seen.
 *
 * @param receivedPackets datagrams of strangers and peers
 * @param sentPackets datagrams
 * @param malformed datagrams that were no SCTP packet, dropped
 * @param badChecksum packets with a wrong CRC32c, dropped
 * @param outOfTheBlue packets of no association and without a listener
 * @param portMoves how often a peer went on from another UDP port
 * @param halfOpenEvicted half open associations that gave way to newer ones
 * @param halfOpenExpired half open associations whose time was over
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
