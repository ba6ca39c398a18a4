// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * An SCTP association that carries connections, each in a pair of its streams (RFC 5043 section 4), and how it does.
 *
 * @param id never used again by this device
 * @param initiator whether this side began it
 * @param localAddress with the SCTP port
 * @param remoteAddress primary address of the peer at its begin, with the SCTP port
 * @param remoteUdpPort where the peer's encapsulation (RFC 6951) is at present, 0 without one
 * @param streams pairs of streams, each for one connection at a time
 * @param occupiedStreams pairs that have a connection, or chunks of a former one in flight
 * @param chunksSent DATA chunks given to SCTP
 * @param chunksReceived DATA chunks that SCTP delivered
 * @param earlyChunks of them, those that had to wait for an earlier one (RFC 5043 section 6.3)
 * @param retransmittedChunks DATA chunks that were sent again
 * @param pendingChunks given to SCTP and not sent yet
 * @param unacknowledgedChunks sent, and not known to have arrived
 * @param peerWindow bytes that the peer can receive
 * @param paths one for each address of the peer, the primary one first
 */
public record AssociationAttributes(
        long id,
        boolean initiator,
        InetSocketAddress localAddress,
        InetSocketAddress remoteAddress,
        int remoteUdpPort,
        int streams,
        int occupiedStreams,
        long chunksSent,
        long chunksReceived,
        long earlyChunks,
        long retransmittedChunks,
        long pendingChunks,
        long unacknowledgedChunks,
        long peerWindow,
        List<AssociationPath> paths) {}
