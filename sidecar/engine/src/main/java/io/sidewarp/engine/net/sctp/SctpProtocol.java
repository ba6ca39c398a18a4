// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.util.OptionalInt;

/**
 * An SCTP implementation without input and output: packets are passed in, and come out through {@link SctpPacketOutput}.
 * It neither computes nor verifies checksums. One per process; any thread may call it.
 */
public interface SctpProtocol {

    /**
     * Opens a socket for one association.
     *
     * @param packetSize octets of an SCTP packet at most, with its common header
     * @param adaptation Adaptation Layer Indication to send, or none
     */
    SctpSocket open(
            int localPort, int packetSize, OptionalInt adaptation, SctpSettings settings, SctpPacketOutput output);

    /** Lets the timers run that are due. To be called every {@link #TICK_MILLIS} while there are sockets, by anybody. */
    void tick();

    /** How often {@link #tick} is wanted. */
    int TICK_MILLIS = 10;
}
