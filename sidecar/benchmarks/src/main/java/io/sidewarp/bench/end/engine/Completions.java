// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.engine;

import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.stream.Stream;

/** Polls completions in batches, and throws for the first work request that failed. */
final class Completions {

    private static final int BATCH = 64;

    private final CompletionQueue queue;
    private final Cqe[] batch = Stream.generate(Cqe::new).limit(BATCH).toArray(Cqe[]::new);

    Completions(CompletionQueue queue) {
        this.queue = queue;
    }

    /**
     * Takes available completions, at most one batch.
     *
     * @return number of completions
     * @throws IllegalStateException if a work request failed
     */
    int poll() {
        int count = queue.poll(batch);
        for (int i = 0; i < count; i++) {
            if (batch[i].status() != CqeStatus.SUCCESS) {
                throw new IllegalStateException(
                        batch[i].opcode() + " ended with " + batch[i].status() + ": " + batch[i].error());
            }
        }
        return count;
    }

    Cqe get(int index) {
        return batch[index];
    }
}
