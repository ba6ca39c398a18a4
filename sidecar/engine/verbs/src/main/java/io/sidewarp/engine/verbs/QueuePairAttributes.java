// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.memory.Pd;
import org.jspecify.annotations.Nullable;

/**
 * Attributes of a new queue pair.
 *
 * @param sendCompletions queue for completions of send work
 * @param receiveCompletions queue for completions of receives; may be the same queue
 * @param sendQueue work requests that can be outstanding on the send queue, at least 1
 * @param receiveQueue receives that can be outstanding on the queue pair's own receive queue, at least 1
 * @param sharedReceives shared receive queue of the same protection domain, or null for receives of its own
 */
public record QueuePairAttributes(
        Pd protectionDomain,
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        int sendQueue,
        int receiveQueue,
        @Nullable Srq sharedReceives) {

    /** Creates the attributes of a queue pair with receives of its own. */
    public QueuePairAttributes(
            Pd protectionDomain,
            CompletionQueue sendCompletions,
            CompletionQueue receiveCompletions,
            int sendQueue,
            int receiveQueue) {
        this(protectionDomain, sendCompletions, receiveCompletions, sendQueue, receiveQueue, null);
    }
}
