// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Values that both sides agreed on in start-up.
 *
 * @param privateData private data of the peer
 * @param ird inbound RDMA Read Requests that are served at a time
 * @param ord outbound RDMA Read Requests at a time
 * @param peerDepths IRD and ORD that the peer stated for itself
 * @param peerToPeer whether either side may send first (RFC 6581 section 9.2)
 * @param mpaRevision revision of MPA in use: 0 with an RDMAC peer, before the end of start-up and on SCTP
 * @param protocolVersion version of DDP and RDMAP: 1, or 0 with an RDMAC peer (RFC 5044 C.1)
 * @param mulpdu current size in bytes of the largest segment that is sent
 * @param association SCTP association that carries the connection ({@link AssociationAttributes#id()}), 0 on TCP
 * @param stream identifier of the connection's pair of streams in that association
 * @param tls values of TLS with the peer's identity, or null without TLS
 */
public record ConnectionAttributes(
        Llp llp,
        boolean initiator,
        InetSocketAddress localAddress,
        InetSocketAddress remoteAddress,
        byte[] privateData,
        int ird,
        int ord,
        ReadDepths peerDepths,
        boolean peerToPeer,
        boolean crc,
        boolean receiveMarkers,
        boolean sendMarkers,
        int mpaRevision,
        int protocolVersion,
        int mulpdu,
        long association,
        int stream,
        @Nullable TlsAttributes tls) {

    /** Creates the attributes of a connection without TLS. */
    public ConnectionAttributes(
            Llp llp,
            boolean initiator,
            InetSocketAddress localAddress,
            InetSocketAddress remoteAddress,
            byte[] privateData,
            int ird,
            int ord,
            ReadDepths peerDepths,
            boolean peerToPeer,
            boolean crc,
            boolean receiveMarkers,
            boolean sendMarkers,
            int mpaRevision,
            int protocolVersion,
            int mulpdu,
            long association,
            int stream) {
        this(
                llp,
                initiator,
                localAddress,
                remoteAddress,
                privateData,
                ird,
                ord,
                peerDepths,
                peerToPeer,
                crc,
                receiveMarkers,
                sendMarkers,
                mpaRevision,
                protocolVersion,
                mulpdu,
                association,
                stream,
                null);
    }

    /** Attributes of a queue pair that is not connected, with unresolved addresses. */
    public static final ConnectionAttributes UNCONNECTED = new ConnectionAttributes(
            Llp.TCP,
            false,
            InetSocketAddress.createUnresolved("unconnected", 0),
            InetSocketAddress.createUnresolved("unconnected", 0),
            new byte[0],
            0,
            0,
            ReadDepths.UNKNOWN,
            false,
            false,
            false,
            false,
            0,
            1,
            0,
            0,
            0);

    /** Returns a copy with another segment size. */
    public ConnectionAttributes withMulpdu(int octets) {
        return new ConnectionAttributes(
                llp,
                initiator,
                localAddress,
                remoteAddress,
                privateData,
                ird,
                ord,
                peerDepths,
                peerToPeer,
                crc,
                receiveMarkers,
                sendMarkers,
                mpaRevision,
                protocolVersion,
                octets,
                association,
                stream,
                tls);
    }
}
