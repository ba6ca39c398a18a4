// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** A queue, as seen by its session. */
interface SessionQueue extends WorkQueue {

    /** Sends requests that a batch holds back, because a later call waits for them. */
    void sendPosted();

    /** Records that a connection is closed, as the sidecar reported. */
    void connectionClosed(long connection);

    /** Tells a handler that no more completions follow. A failure of the handler has no effect on other recipients. */
    static void tellFailure(@Nullable CompletionHandler handler, SidewarpException cause) {
        if (handler == null) {
            return;
        }
        try {
            handler.onFailure(cause);
        } catch (RuntimeException | Error e) {
            System.getLogger(SessionQueue.class.getName())
                    .log(Level.ERROR, "a completion handler failed when it was told that its queue failed", e);
        }
    }
}
