// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.sctp.SctpTransport;
import java.net.InetSocketAddress;

/** An association with what is to be known about it. Belongs to its loop; what does not say otherwise is called there. */
public interface SctpAssociation extends SctpTransport {

    /** The loop that owns it. Any thread may ask. */
    EventLoop loop();

    /** Address and SCTP port of this side. Any thread may ask. */
    InetSocketAddress localAddress();

    /** Primary address and SCTP port of the peer. Any thread may ask. */
    InetSocketAddress remoteAddress();

    /**
     * The UDP port that packets to the peer go to at present; it follows the peer (RFC 6951 section 5.4). 0 where the stack
     * does not encapsulate.
     */
    int remoteUdpPort();

    /** DATA chunks that were sent again so far. Also known when it has ended. */
    long retransmittedChunks();

    /** How it does, or {@link SctpAssociationFacts#NONE} when it has ended. Costs a system call or the like. */
    SctpAssociationFacts facts();
}
