// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * A connection as the sidecar described it at one time.
 *
 * @param id {@link Connection#id()}
 * @param sessionName name of the session that owns the connection
 * @param state state at that time
 * @param waiting which work has waited for half a second and needs an action, and what to do; empty if nothing waits
 * @param error error that ended the connection, if there is one
 * @param initiator true if this side connected, false if it accepted
 * @param llp lower layer protocol
 * @param localAddress IP address of this side; empty if there is none yet
 * @param localPort TCP or SCTP port of this side
 * @param remoteAddress IP address of the peer; empty if there is none yet
 * @param remotePort TCP or SCTP port of the peer
 * @param association {@link AssociationInfo#id()} of the association that carries the connection; 0 on TCP
 * @param stream the connection's pair of streams in the association; 0 on TCP
 * @param protectionDomain the sidecar's number of the protection domain
 * @param sharedReceiveQueue {@link SharedReceiveQueue#id()} of the connection's receives; 0 if the connection has a
 *     receive queue of its own
 * @param mulpdu bytes of the largest segment that can be sent now (RFC 5044 section 4.5). 0 with the provider "kernel",
 *     whose device does not report it.
 * @param agreed result of the start-up
 * @param counters traffic so far
 */
public record ConnectionInfo(
        long id,
        String sessionName,
        Connection.State state,
        String waiting,
        Optional<RdmaErrorInfo> error,
        boolean initiator,
        LowerLayerProtocol llp,
        String localAddress,
        int localPort,
        String remoteAddress,
        int remotePort,
        long association,
        int stream,
        long protectionDomain,
        long sharedReceiveQueue,
        int mulpdu,
        Agreement agreed,
        Counters counters) {

    /**
     * Result of the start-up. The provider "kernel" does not report CRCs, Markers and the MPA revision, which are then
     * false and 0.
     *
     * @param mpaRevision MPA revision in use; 0 with an RDMAC peer
     * @param protocolVersion version of the DDP and RDMAP headers: 1, or 0 with an RDMAC peer (RFC 5044 Appendix C)
     * @param peerToPeer whether either side may send first (RFC 6581 section 9.2)
     * @param crc whether CRCs are in use
     * @param receiveMarkers whether data that arrives has MPA Markers
     * @param sendMarkers whether data that is sent has MPA Markers
     * @param ird inbound RDMA Read Requests and Atomic Requests that this side serves at a time
     * @param ord outbound RDMA Read Requests and Atomic Requests of this side at a time
     * @param peerIrd the same that the peer serves at a time, if the peer announced it
     * @param peerOrd the same that the peer wants to have served, if the peer announced it
     * @param security protection of the connection
     * @param peerIdentity SPIFFE ID of the peer, which TLS has verified; empty without TLS
     */
    public record Agreement(
            int mpaRevision,
            int protocolVersion,
            boolean peerToPeer,
            boolean crc,
            boolean receiveMarkers,
            boolean sendMarkers,
            int ird,
            int ord,
            OptionalInt peerIrd,
            OptionalInt peerOrd,
            SecurityInUse security,
            Optional<String> peerIdentity) {}

    /**
     * Traffic of a connection: bytes of payload without headers, RDMA messages by operation, and segments.
     *
     * @param bytesSent bytes of payload
     * @param bytesReceived bytes of payload
     * @param segmentsSent FPDUs or SCTP chunks
     * @param segmentsReceived FPDUs or SCTP chunks
     */
    public record Counters(
            long bytesSent,
            long bytesReceived,
            long writesSent,
            long writesReceived,
            long readsSent,
            long readsServed,
            long sendsSent,
            long sendsReceived,
            long segmentsSent,
            long segmentsReceived,
            long immediatesSent,
            long immediatesReceived,
            long atomicsSent,
            long atomicsServed) {}
}
