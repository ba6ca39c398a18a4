// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * Services that the DDP adaptation needs from the SCTP association below. The I/O layer implements this interface over
 * an SCTP stack. All calls come on the event loop that owns the association.
 *
 * <p>No method may call back into {@link SctpUser} before it returns.
 */
public interface SctpTransport {

    /** Asks for a call of {@link SctpUser#produce} as soon as SCTP can take a message. Cheap to repeat. */
    void requestOutput();

    /**
     * Gives SCTP a message to send, unordered (RFC 5043 section 10). The message takes one chunk if it is no longer
     * than {@link #maxMessage}. Messages get their TSNs in the order of the calls. The method does not use the bytes
     * after it returns.
     *
     * @param payloadProtocol Payload Protocol Identifier, in host order
     * @return false when SCTP takes no more at present. Nothing was sent then, and {@link SctpUser#produce} is called
     *     once SCTP has room
     */
    boolean send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length);

    /** Largest user message in bytes that needs neither IP nor SCTP fragmentation on the current path. May change. */
    int maxMessage();

    /**
     * Number of messages that the peer has acknowledged, counted from the first message without a gap. The number may
     * be old, and a call may cost a system call. Call this only when something waits for the number.
     */
    long acknowledged();

    /** Asks for a call of {@link SctpUser#onAcknowledged} when {@link #acknowledged} has advanced. Cheap to repeat. */
    void requestAcknowledged();

    /** Time in nanoseconds, of the clock that {@link #wakeAt} uses. */
    long nanoTime();

    /** Asks for a call of {@link SctpUser#onWake} at that time or soon after. A later call replaces an earlier call. */
    void wakeAt(long nanoTime);

    /** Ends the association gracefully: SHUTDOWN after everything sent, in bounded time (RFC 4960 section 9.2). */
    void shutdown();

    /**
     * Ends the association at once with an ABORT.
     *
     * @param reason reason for people, carried as user-initiated abort reason where the stack can do so
     */
    void abort(String reason);
}
