// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.Llp;

/** Converts the result of start-up into attributes of verbs, for both sides. */
final class Agreements {

    private Agreements() {}

    static ConnectionAttributes of(TcpTransport transport, MpaStartup agreed, RdmapStream stream, boolean initiator) {
        return new ConnectionAttributes(
                Llp.TCP,
                initiator,
                transport.localAddress(),
                transport.remoteAddress(),
                agreed.privateData(),
                agreed.ird(),
                agreed.ord(),
                ConnectionSetup.depths(agreed.peer()),
                agreed.peerToPeer(),
                agreed.crc(),
                agreed.receiveMarkers(),
                agreed.sendMarkers(),
                agreed.revision(),
                agreed.protocolVersion(),
                stream.mulpdu(),
                0,
                0);
    }

    /**
     * Returns the attributes of an SCTP connection. A CRC32c is always used, whatever was requested, and there is no
     * MPA.
     */
    static ConnectionAttributes of(
            SoftwareAssociation association,
            DdpStreamSession session,
            SessionStartup agreed,
            RdmapStream stream,
            boolean initiator) {
        SctpAssociation transport = association.transport();
        return new ConnectionAttributes(
                Llp.SCTP,
                initiator,
                transport.localAddress(),
                transport.remoteAddress(),
                agreed.privateData(),
                agreed.ird(),
                agreed.ord(),
                ConnectionSetup.depths(agreed.peer()),
                agreed.peerToPeer(),
                true,
                false,
                false,
                0,
                1,
                stream.mulpdu(),
                association.number(),
                session.stream());
    }
}
