// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;

/** User messages and events of one association, from and to any SCTP implementation below. Belongs to one thread. */
public interface MessageSocket {

    /** Outcome of sending a message. */
    enum SendResult {
        SENT,
        /** The send buffer is full, or memory is short for now. */
        FULL,
        /** The association has ended or is ending; {@link #receive} tells. */
        CLOSED,
        /** The message cannot be sent, now or later; {@link #sendError} tells why. */
        FAILED;

        private static final int EAGAIN = 11;
        private static final int ENOMEM = 12;
        private static final int EPIPE = 32;
        private static final int ECONNRESET = 104;
        private static final int ENOBUFS = 105;
        private static final int ENOTCONN = 107;
        private static final int ESHUTDOWN = 108;

        /** Returns the outcome for an error number of Linux. */
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

    /** Returns the error number of the last message that was not taken. */
    int sendError();

    /**
     * Takes the next message or event.
     *
     * @param into receives a message, from offset 0; a longer message comes in parts
     * @return false when there is none
     */
    boolean receive(WireBuffer into, SctpReceived received);

    /** Begins the graceful end. */
    void shutdown();

    /** Sends an ABORT with the reason. */
    void abort(String reason);

    /**
     * Releases everything, with an ABORT if there is an association. Must not be called from within
     * {@link SctpPacketOutput}.
     */
    void close();
}
