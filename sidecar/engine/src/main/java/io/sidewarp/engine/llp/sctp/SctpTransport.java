// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * What the DDP adaptation asks of the SCTP association below it; the I/O layer implements it over some SCTP stack. All
 * calls come on the event loop that owns the association.
 *
 * <p>None of them may call back into {@link SctpUser} before it returns.
 */
public interface SctpTransport {

    /** Asks for a call of {@link SctpUser#produce} as soon as SCTP can take a message. Cheap to repeat. */
    void requestOutput();

    /**
     * Gives SCTP a message to send, unordered (RFC 5043 section 10), in one chunk as long as it is no longer than
     * {@link #maxMessage}. Messages get their TSNs in the order in which they are given. The bytes are done with when
     * this returns.
     *
     * @param payloadProtocol Payload Protocol Identifier, in host order
     * @return false when SCTP takes no more at present; then nothing was sent, and {@link SctpUser#produce} is called
     *     once there is room
     */
    boolean send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length);

    /** Bytes of the largest user message that needs neither IP nor SCTP fragmentation on the path in use. May change. */
    int maxMessage();

    /**
     * How many of the messages sent so far the peer has acknowledged, counted from the first without a gap. May lag
     * behind, and may cost a system call: meant for the moments when something waits for it.
     */
    long acknowledged();

    /** Asks for a call of {@link SctpUser#onAcknowledged} when {@link #acknowledged} has advanced. Cheap to repeat. */
    void requestAcknowledged();

    /** Time in nanoseconds, of the same clock as {@link #wakeAt}. */
    long nanoTime();

    /** Asks for a call of {@link SctpUser#onWake} at that time or soon after. A later call replaces an earlier one. */
    void wakeAt(long nanoTime);

    /** Ends the association gracefully: SHUTDOWN behind everything sent, in bounded time (RFC 4960 section 9.2). */
    void shutdown();

    /**
     * Ends the association at once with an ABORT.
     *
     * @param reason for people, carried as user-initiated abort reason where the stack can
     */
    void abort(String reason);
}
