// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.StreamError;
import org.jspecify.annotations.Nullable;

/** Takes the completions of a stream, on its event loop. The element is valid only during the call. */
public interface CompletionSink {

    /** Reports that a Write, Read or Send is complete. Unsignaled work is reported only when it failed. */
    void onSendCompletion(Wqe wqe, CqeStatus status, @Nullable StreamError error);

    /**
     * Reports that a receive is complete.
     *
     * @param length bytes of the message
     * @param control RDMAP Control Field of the message ({@link RdmapControl})
     * @param invalidatedStag STag that the message invalidated, if its opcode is one with Invalidate
     */
    void onReceiveCompletion(
            Wqe wqe, CqeStatus status, long length, int control, int invalidatedStag, @Nullable StreamError error);

    /** Ends a batch of completions; the time to notify. */
    void onCompletionsDone();
}
