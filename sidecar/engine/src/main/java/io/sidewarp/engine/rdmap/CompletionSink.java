// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import org.jspecify.annotations.Nullable;

/** Takes the completions of a stream, on its event loop. The element may be read during the call only. */
public interface CompletionSink {

    /** A Write, Read or Send is complete. Called for unsignaled work only when it failed. */
    void onSendCompletion(Wqe wqe, CompletionStatus status, @Nullable StreamError error);

    /**
     * A receive is complete.
     *
     * @param length bytes of the message
     * @param control the message's RDMAP Control Field ({@link RdmapControl})
     * @param invalidatedStag the STag that the message invalidated, if its opcode says so
     */
    void onReceiveCompletion(
            Wqe wqe,
            CompletionStatus status,
            long length,
            int control,
            int invalidatedStag,
            @Nullable StreamError error);

    /** The end of a batch: time to notify. */
    void onCompletionsDone();
}
