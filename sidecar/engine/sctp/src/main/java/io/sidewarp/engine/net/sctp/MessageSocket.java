// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** User messages and events of one association, from and to any SCTP implementation below. Belongs to one thread. */
public interface MessageSocket {

    /** Outcome of sending a message. */
    enum SendResult {
        SENT,
        /** The send buffer is full, or memory is short for now. */
        FULL,
        /** The association has ended or is ending; {@link #receive} tells. */
        CLOSED,
        /** The message cannot be sent, now or later. */
        FAILED;

        private static final int EAGAIN = 11;
        private static final int ENOMEM = 12;
        private static final int EPIPE = 32;
        private static final int ECONNRESET = 104;
        private static final int ENOBUFS = 105;
        private static final int ENOTCONN = 107;
        private static final int ESHUTDOWN = 108;

        /** Returns the outcome for an error number of Linux, or for 0. */
        public static SendResult of(int error) {
            return switch (error) {
                case 0 -> SENT;
                case EAGAIN, ENOMEM, ENOBUFS -> FULL;
                case EPIPE, ECONNRESET, ENOTCONN, ESHUTDOWN -> CLOSED;
                default -> FAILED;
            };
        }
    }

    /** Takes messages and events of the association, and ignores those that are of no use. */
    interface Receiver {

        /** Takes a message, or a part of one. {@code complete} is true for the last part. */
        default void onMessage(int stream, int payloadProtocol, int length, boolean complete) {}

        default void onUp(int inboundStreams, int outboundStreams) {}

        /** Takes the peer's Adaptation Layer Indication, right after {@link #onUp}. */
        default void onAdaptation(int indication) {}

        /** Handles the failure of the association. The cause is for people, and null if the socket knows none. */
        default void onLost(@Nullable String cause) {}

        /** Handles that the peer restarted the association. */
        default void onRestarted() {}

        /** Handles that the graceful end is complete. */
        default void onShutDown() {}

        /** Handles that a path to the peer stopped answering, or answers again. */
        default void onPath(InetAddress path, boolean active) {}
    }

    /**
     * Sends a message, unordered and in one chunk.
     *
     * @return 0, or an error number of Linux for {@link SendResult#of}
     */
    int send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length);

    /**
     * Hands the next message or event to the receiver, as the last step of this method. Events that need no answer are
     * skipped.
     *
     * @param into receives a message, from offset 0; a longer message comes in parts
     * @return false when there is none
     */
    boolean receive(WireBuffer into, Receiver receiver);

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
