// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import org.jspecify.annotations.Nullable;

/** Receives asynchronous events of a queue pair, on the event loop that owns the queue pair. Must not block. */
@FunctionalInterface
public interface QueuePairEventListener {

    /**
     * Reports a state change.
     *
     * @param error error that ended the stream, found here or reported by the peer, or null
     * @param message description of the event for people
     */
    void onStateChange(QueuePair queuePair, QueuePairState state, @Nullable StreamError error, String message);
}
