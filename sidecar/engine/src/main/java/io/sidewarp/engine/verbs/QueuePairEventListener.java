// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.rdmap.StreamError;
import org.jspecify.annotations.Nullable;

/** Asynchronous events of a queue pair, on the event loop that owns it. Must not block. */
@FunctionalInterface
public interface QueuePairEventListener {

    /**
     * The state changed.
     *
     * @param error what ended the stream, found here or reported by the peer, or null
     * @param message what happened, for people
     */
    void onStateChange(QueuePair queuePair, QueuePairState state, @Nullable StreamError error, String message);
}
