// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;

/** The protocol's side of one association. Belongs to one thread. */
public interface SctpSocket {

    /** What became of a message. */
    enum SendResult {
        SENT,
        /** The send buffer is full. */
        FULL,
        /** The association is gone or ends; {@link #receive} tells. */
        CLOSED
    }

    /** Takes the association that a peer begins with the next packets. */
    void listen();

    /** Begins an association. */
    void connect(int remotePort);

    /** A packet of the peer. */
    void input(WireBuffer packet, int offset, int length);

    /** Sends a message, unordered and in one chunk. */
    SendResult send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length);

    /**
     * Takes the next message or event.
     *
     * @param into for messages, from offset 0; one that is longer comes in parts
     * @return false when there is none
     */
    boolean receive(WireBuffer into, SctpReceived received);

    /** Begins the graceful end. */
    void shutdown();

    /** Sends an ABORT with the reason. */
    void abort(String reason);

    /** How the association does. */
    SctpSocketStatus status();

    /** Gives all up, with an ABORT if there is an association. Not from within {@link SctpPacketOutput}. */
    void close();
}
