// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.net.InetAddress;
import java.util.List;

/**
 * Addresses and ports of a peer.
 *
 * @param addresses of the peer, the primary first; RFC 5043 section 7.2 takes a single address for normal
 * @param port SCTP port of the peer
 * @param udpPort UDP port of the peer (RFC 6951 section 5.1); 0 where the stack does not encapsulate
 */
public record SctpDestination(List<InetAddress> addresses, int port, int udpPort) {

    public SctpDestination {
        addresses = List.copyOf(addresses);
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("a destination has at least one address");
        }
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("an SCTP port is 1 to 65535, not " + port);
        }
        if (udpPort < 0 || udpPort > 65535) {
            throw new IllegalArgumentException("a UDP port is 0 to 65535, not " + udpPort);
        }
    }

    /** A peer with one address. */
    public SctpDestination(InetAddress address, int port, int udpPort) {
        this(List.of(address), port, udpPort);
    }
}
