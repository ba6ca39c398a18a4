// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.net.InetAddress;

/** The protocol's side of one association, for stacks that carry its packets. Belongs to one thread. */
public interface SctpSocket extends MessageSocket {

    /** Waits for the association that a peer begins with the next packets. */
    void listen();

    /** Begins an association. */
    void connect(int remotePort);

    /** Takes a packet of the peer. */
    void input(WireBuffer packet, int offset, int length);

    /**
     * Returns the state of the association, or {@link SctpAssociationFacts#NONE} when there is none any more.
     *
     * @param pathMtu most bytes of a packet on the only path
     */
    SctpAssociationFacts facts(InetAddress remote, int pathMtu, long unacknowledged, long pending);
}
