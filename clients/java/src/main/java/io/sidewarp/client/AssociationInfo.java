// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;
import java.util.List;

/**
 * An SCTP association (RFC 9260) as the sidecar described it at one time. Connections between two sidecars share an
 * association; each connection has a pair of streams (RFC 5043).
 *
 * @param id number of the association; this sidecar never uses a number again
 * @param initiator true if this side began the association
 * @param localAddress IP address of this side
 * @param localPort SCTP port of this side
 * @param remoteAddress IP address of the peer
 * @param remotePort SCTP port of the peer
 * @param remoteUdpPort present UDP port of the peer's encapsulation (RFC 6951); 0 without encapsulation
 * @param streams pairs of streams; each serves one connection at a time
 * @param occupiedStreams pairs that have a connection, or have chunks of a former connection in flight
 * @param chunksSent DATA chunks
 * @param chunksReceived DATA chunks
 * @param earlyChunks received DATA chunks that had to wait for an earlier chunk
 * @param retransmittedChunks DATA chunks that were sent again
 * @param pendingChunks DATA chunks that were given to SCTP and are not sent yet
 * @param unacknowledgedChunks DATA chunks that were sent and are not known to have arrived
 * @param peerWindow bytes that the peer can receive
 * @param paths one path for each address of the peer, the primary path first
 */
public record AssociationInfo(
        long id,
        boolean initiator,
        String localAddress,
        int localPort,
        String remoteAddress,
        int remotePort,
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
        List<Path> paths) {

    /**
     * A path of an association.
     *
     * @param address IP address of the peer
     * @param primary whether new data takes this path, as long as the path answers
     * @param active whether the path answers
     * @param smoothedRtt smoothed round-trip time; 0 before the first measurement
     * @param rto retransmission time-out
     * @param congestionWindow bytes
     * @param pathMtu largest SCTP packet of the path, in bytes
     */
    public record Path(
            String address,
            boolean primary,
            boolean active,
            Duration smoothedRtt,
            Duration rto,
            long congestionWindow,
            int pathMtu) {}
}
