// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp;

import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;

/**
 * Events that a lower layer reports to DDP (RFC 5041 section 3). All calls come on the event loop that owns the
 * connection, and no call may block.
 */
public interface UpperLayer {

    /**
     * Takes one ULPDU that the lower layer has validated, in the order in which the peer sent it. The bytes are valid
     * only during this call.
     *
     * @param length exact length of the ULPDU in bytes
     */
    void onUlpdu(WireBuffer buffer, int offset, int length);

    /** Reports the end of a batch of input. Completions of the batch can be signaled together. */
    void onInputDone();

    /**
     * Reports that the transport can take bytes. Claims and commits ULPDUs until none are left or a claim is refused.
     */
    void produce();

    /** Reports that {@link LowerLayer#outputPermitted()} became true after start-up, with the peer's first ULPDU. */
    default void onOutputPermitted() {}

    /** Reports that {@link LowerLayer#transferredPosition()} advanced. */
    void onTransferred();

    /**
     * Reports an error that the lower layer found in the input (RFC 5044 section 8). No further ULPDU will arrive.
     * Output still works, so that a Terminate can be sent.
     */
    void onError(LlpError error);

    /** Reports that the peer closed its direction gracefully. No further ULPDU will arrive; output still works. */
    void onPeerClosed();

    /**
     * Reports that the stream is gone in both directions, whether this side asked for the end or not. No call follows.
     *
     * @param graceful true when both directions were closed in order, false after a reset, time-out or abort
     * @param cause description of the event for people
     */
    void onClosed(boolean graceful, String cause);
}
