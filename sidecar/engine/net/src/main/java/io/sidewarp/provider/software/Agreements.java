// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.Llp;

/** Converts the result of MPA start-up into attributes of verbs, for both sides. */
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
}
