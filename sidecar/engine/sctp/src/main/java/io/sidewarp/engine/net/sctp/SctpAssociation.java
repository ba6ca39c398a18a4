// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.sctp.SctpTransport;
import java.net.InetSocketAddress;

/**
 * An association and the facts about it. Belongs to its loop. Methods must be called on this loop unless they say
 * otherwise.
 */
public interface SctpAssociation extends SctpTransport {

    /** Returns the loop that owns the association. Any thread may call this. */
    EventLoop loop();

    /** Returns the address and SCTP port of this side. Any thread may call this. */
    InetSocketAddress localAddress();

    /** Returns the primary address and SCTP port of the peer. Any thread may call this. */
    InetSocketAddress remoteAddress();

    /**
     * Returns the UDP port that packets to the peer go to at present. The port follows the peer (RFC 6951 section 5.4).
     * 0 where the stack does not encapsulate.
     */
    int remoteUdpPort();

    /** Returns how many DATA chunks were retransmitted so far. Also known after the end of the association. */
    long retransmittedChunks();

    /**
     * Returns the state of the association, or {@link SctpAssociationFacts#NONE} after its end. Costs about a system
     * call.
     */
    SctpAssociationFacts facts();
}
