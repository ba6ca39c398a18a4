// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;

/** User messages and events of one association, from and to whatever SCTP is below. Belongs to one thread. */
public interface MessageSocket {

    /** What became of a message. */
    enum SendResult {
        SENT,
        /** The send buffer is full, or memory is short for now. */
        FULL,
        /** The association is gone or ends; {@link #receive} tells. */
        CLOSED,
        /** It is not taken, now or later; {@link #sendError} tells why. */
        FAILED;

        private static final int EAGAIN = 11;
        private static final int ENOMEM = 12;
        private static final int EPIPE = 32;
        private static final int ECONNRESET = 104;
        private static final int ENOBUFS = 105;
        private static final int ENOTCONN = 107;
        private static final int ESHUTDOWN = 108;

        /** What an error number of Linux means for a message. */
        public static SendResult ofError(int number) {
            return switch (number) {
                case EAGAIN, ENOMEM, ENOBUFS -> FULL;
                case EPIPE, ECONNRESET, ENOTCONN, ESHUTDOWN -> CLOSED;
                default -> FAILED;
            };
        }
    }

    /** Sends a message, unordered and in one chunk. */
    SendResult send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length);

    /** The error number of the message that was not taken last. */
    int sendError();

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

    /** Gives all up, with an ABORT if there is an association. Not from within {@link SctpPacketOutput}. */
    void close();
}
