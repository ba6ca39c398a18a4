// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;

/**
 * What start-up agreed on.
 *
 * @param privateData the peer's
 * @param ird inbound RDMA Read Requests served at a time
 * @param ord outbound RDMA Read Requests at a time
 * @param peerDepths what the peer said of its own
 * @param peerToPeer whether either side may send first (RFC 6581 section 9.2)
 * @param mpaRevision revision of MPA in use: 0 with an RDMAC peer, before start-up ended and on SCTP
 * @param protocolVersion of DDP and RDMAP: 1, or 0 with an RDMAC peer (RFC 5044 C.1)
 * @param mulpdu bytes of the largest segment that is sent now
 * @param association the SCTP association that carries it ({@link AssociationAttributes#id()}), 0 on TCP
 * @param stream identifier of its pair of streams of that association
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
        int stream) {

    /** Of a queue pair that is not connected: addresses are unresolved. */
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

    /** The attributes with another segment size. */
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
                stream);
    }
}
