// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * Takes completions in the order in which they arrive. Called on the client's event loop, or for a queue over rings on
 * the thread of that queue. A handler must not block, and may post to the queue with {@link WorkQueue#tryPost}.
 */
@FunctionalInterface
public interface CompletionHandler {

    void onCompletion(WorkCompletion completion);

    /** Reports that the queue ended before its work was complete. No more completions follow. */
    default void onFailure(SidewarpException cause) {}
}
