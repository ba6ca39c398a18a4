// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.util.OptionalInt;

/**
 * An SCTP implementation without input and output: packets are passed in, and come out through
 * {@link SctpPacketOutput}. It neither computes nor verifies checksums. There is one instance per process; any thread
 * may call it.
 */
public interface SctpProtocol {

    /**
     * Opens a socket for one association.
     *
     * @param packetSize most bytes of an SCTP packet, with its common header
     * @param adaptation Adaptation Layer Indication to send, or none
     */
    SctpSocket open(
            int localPort, int packetSize, OptionalInt adaptation, SctpSettings settings, SctpPacketOutput output);

    /** Runs the timers that are due. Any thread must call this every {@link #TICK_MILLIS} while there are sockets. */
    void tick();

    /** Interval between two calls of {@link #tick}. */
    int TICK_MILLIS = 10;
}
