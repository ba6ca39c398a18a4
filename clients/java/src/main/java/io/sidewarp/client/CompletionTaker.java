// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Takes completions of {@link WorkQueue#poll(CompletionTaker, int)}, one after another, on the polling thread. */
@FunctionalInterface
public interface CompletionTaker {

    /**
     * Takes a completion. The method may post to the queue with {@link WorkQueue#tryPost}. It should not wait for room,
     * because other completions may have to make that room.
     *
     * @param completion valid only during the call; {@link CompletionView#toCompletion} makes a copy to keep
     */
    void onCompletion(CompletionView completion);
}
