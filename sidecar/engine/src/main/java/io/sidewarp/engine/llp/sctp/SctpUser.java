// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.util.OptionalInt;

/**
 * What an SCTP association tells its user. All calls come on the event loop that owns the association, and none may
 * block.
 */
public interface SctpUser {

    /**
     * The association is up. The first call, unless {@link #onClosed} is.
     *
     * @param inboundStreams that the peer may use
     * @param outboundStreams that this side may use
     * @param adaptation Adaptation Layer Indication of the peer's INIT or INIT-ACK, if it had one (RFC 5061)
     */
    void onEstablished(int inboundStreams, int outboundStreams, OptionalInt adaptation);

    /**
     * A whole user message, in the order in which SCTP delivers, which with unordered messages is any. The bytes may be
     * used during this call only.
     *
     * @param payloadProtocol Payload Protocol Identifier, in host order
     */
    void onMessage(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length);

    /** The batch of input that the association had is over. */
    void onInputDone();

    /** SCTP can take messages: send until there are no more or one is refused. */
    void produce();

    /** {@link SctpTransport#acknowledged} has advanced after it was asked for. */
    void onAcknowledged();

    /** The time given to {@link SctpTransport#wakeAt} has come. */
    void onWake();

    /**
     * The association is gone, with or without our asking. The last call.
     *
     * @param graceful true after a SHUTDOWN of either side, false after an ABORT, a failure of all paths, or no answer
     * @param cause what happened, for people
     */
    void onClosed(boolean graceful, String cause);
}
