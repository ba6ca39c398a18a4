// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.util.OptionalInt;

/**
 * Events that an SCTP association reports to its user. All calls come on the event loop that owns the association, and
 * no call may block.
 */
public interface SctpUser {

    /**
     * Reports that the association is up. This is the first call, unless {@link #onClosed} comes first.
     *
     * @param inboundStreams number of streams that the peer may use
     * @param outboundStreams number of streams that this side may use
     * @param adaptation Adaptation Layer Indication of the peer's INIT or INIT-ACK, if present (RFC 5061)
     */
    void onEstablished(int inboundStreams, int outboundStreams, OptionalInt adaptation);

    /**
     * Takes a whole user message. SCTP may deliver unordered messages in any order. The bytes are valid only during
     * this call.
     *
     * @param payloadProtocol Payload Protocol Identifier, in host order
     */
    void onMessage(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length);

    /** Reports the end of a batch of input. */
    void onInputDone();

    /** Reports that SCTP can take messages. Sends until none are left or a message is refused. */
    void produce();

    /** Reports that {@link SctpTransport#acknowledged} has advanced after a request for this call. */
    void onAcknowledged();

    /** Reports that the time given to {@link SctpTransport#wakeAt} has come. */
    void onWake();

    /**
     * Reports that the association is gone, whether this side asked for the end or not. No call follows.
     *
     * @param graceful true after a SHUTDOWN of either side, false after an ABORT, a failure of all paths, or no answer
     * @param cause description of the event for people
     */
    void onClosed(boolean graceful, String cause);
}
