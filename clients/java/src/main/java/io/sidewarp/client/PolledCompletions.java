// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;
import java.util.Optional;

/** Hands the completions of {@link WorkQueue#poll(Duration)} to a taker. */
final class PolledCompletions {

    private PolledCompletions() {}

    /**
     * Checks the limit of a poll.
     *
     * @throws IllegalArgumentException if the limit is less than 1
     */
    static void checkLimit(int limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("limit is " + limit + "; allowed: 1 and more");
        }
    }

    static int poll(WorkQueue queue, CompletionTaker taker, int limit, Duration timeout) {
        checkLimit(limit);
        CompletionView view = new CompletionView();
        int taken = 0;
        Optional<WorkCompletion> next = queue.poll(timeout);
        while (next.isPresent()) {
            taker.onCompletion(view.show(next.get()));
            taken++;
            next = taken < limit ? another(queue) : Optional.empty();
        }
        return taken;
    }

    /** Polls without waiting. Ignores the end of the queue, which the next poll reports again. */
    private static Optional<WorkCompletion> another(WorkQueue queue) {
        try {
            return queue.poll(Duration.ZERO);
        } catch (SidewarpException e) {
            return Optional.empty();
        }
    }
}
