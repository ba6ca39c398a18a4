// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.memory.ProtectionDomain;

/**
 * What a queue pair is created with.
 *
 * @param sendCompletions queue for completions of send work
 * @param receiveCompletions queue for completions of receives; may be the same
 * @param sendQueue work requests that can be outstanding on the send queue, at least 1
 * @param receiveQueue receives that can be outstanding, at least 1
 */
public record QueuePairAttributes(
        ProtectionDomain protectionDomain,
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        int sendQueue,
        int receiveQueue) {}
