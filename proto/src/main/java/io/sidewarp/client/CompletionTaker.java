// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Takes completions of {@link WorkQueue#poll(CompletionTaker, int)}, one after another, on the polling thread. */
@FunctionalInterface
public interface CompletionTaker {

    /**
     * Takes a completion. It may post to the queue; {@link WorkQueue#tryPost} is better than waiting for room, which other
     * completions may have to make.
     *
     * @param completion valid during the call only; {@link CompletionView#toCompletion} makes a copy to keep
     */
    void onCompletion(CompletionView completion);
}
