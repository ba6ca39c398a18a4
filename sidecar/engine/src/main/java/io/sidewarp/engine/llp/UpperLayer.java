// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * What a lower layer tells DDP (RFC 5041 section 3). All calls come on the event loop that owns the connection, and
 * none may block.
 */
public interface UpperLayer {

    /**
     * One ULPDU that was validated by the lower layer, in the order in which the peer sent it. The bytes may be used
     * during this call only.
     *
     * @param length exact bytes of the ULPDU
     */
    void onUlpdu(WireBuffer buffer, int offset, int length);

    /** The batch of input that the transport had is over: time to signal completions in one go. */
    void onInputDone();

    /** The transport can take bytes: claim and commit ULPDUs until there are no more or a claim is refused. */
    void produce();

    /** {@link LowerLayer#outputPermitted()} became true behind start-up: the peer's first ULPDU was taken. */
    default void onOutputPermitted() {}

    /** {@link LowerLayer#transferredPosition()} advanced. */
    void onTransferred();

    /**
     * The lower layer found an error in what arrived (RFC 5044 section 8). No further ULPDU will come; output still
     * works, so that a Terminate can be sent.
     */
    void onError(LlpError error);

    /** The peer closed its direction gracefully. No further ULPDU will come; output still works. */
    void onPeerClosed();

    /**
     * The stream is gone in both directions, with or without our asking. The last call.
     *
     * @param graceful true when both directions were closed in order, false after a reset, time-out or abort
     * @param cause what happened, for people
     */
    void onClosed(boolean graceful, String cause);
}
