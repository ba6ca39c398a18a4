// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * An SCTP association that carries connections, each in its own pair of streams (RFC 5043 section 4), with its
 * counters.
 *
 * @param id identifier within this device, never reused
 * @param initiator whether this side started the association
 * @param localAddress local address with the SCTP port
 * @param remoteAddress primary address of the peer when the association started, with the SCTP port
 * @param remoteUdpPort current UDP port of the peer's encapsulation (RFC 6951), or 0 without encapsulation
 * @param streams pairs of streams, each for one connection at a time
 * @param occupiedStreams pairs that carry a connection, or that still have chunks of an earlier connection in flight
 * @param chunksSent DATA chunks given to SCTP
 * @param chunksReceived DATA chunks that SCTP delivered
 * @param earlyChunks received DATA chunks that had to wait for an earlier chunk (RFC 5043 section 6.3)
 * @param retransmittedChunks DATA chunks that were sent again
 * @param pendingChunks chunks given to SCTP and not sent yet
 * @param unacknowledgedChunks chunks sent and not acknowledged yet
 * @param peerWindow bytes that the peer can receive
 * @param paths one path for each address of the peer, the primary path first
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
