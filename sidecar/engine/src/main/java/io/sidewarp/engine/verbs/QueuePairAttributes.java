// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.memory.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/**
 * What a queue pair is created with.
 *
 * @param sendCompletions queue for completions of send work
 * @param receiveCompletions queue for completions of receives; may be the same
 * @param sendQueue work requests that can be outstanding on the send queue, at least 1
 * @param receiveQueue receives that can be outstanding on the queue pair's own receive queue, at least 1
 * @param sharedReceives taken instead of receives of its own, in the same protection domain; null: it has its own
 */
public record QueuePairAttributes(
        ProtectionDomain protectionDomain,
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        int sendQueue,
        int receiveQueue,
        @Nullable SharedReceiveQueue sharedReceives) {

    /** A queue pair with receives of its own. */
    public QueuePairAttributes(
            ProtectionDomain protectionDomain,
            CompletionQueue sendCompletions,
            CompletionQueue receiveCompletions,
            int sendQueue,
            int receiveQueue) {
        this(protectionDomain, sendCompletions, receiveCompletions, sendQueue, receiveQueue, null);
    }
}
