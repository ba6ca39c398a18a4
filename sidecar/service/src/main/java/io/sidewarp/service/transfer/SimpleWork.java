// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.WorkCompletion;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The only work request of a simple call. */
final class SimpleWork implements CompletionSink {

    private final CompletableFuture<WorkCompletion> result = new CompletableFuture<>();
    private @Nullable WorkCompletion completion;

    /** Returns a future that completes with a successful completion, or fails with a status. */
    CompletableFuture<WorkCompletion> result() {
        return result;
    }

    @Override
    public void complete(
            long connection, long id, boolean signaled, io.sidewarp.engine.verbs.WorkCompletion engineCompletion) {
        completion = Completions.toProto(id, connection, engineCompletion);
    }

    @Override
    public void flush() {
        if (completion != null) {
            finish(result, completion);
        }
    }

    private static void finish(CompletableFuture<WorkCompletion> result, WorkCompletion completion) {
        if (completion.getStatus() == CompletionStatus.COMPLETION_STATUS_SUCCESS) {
            result.complete(completion);
        } else {
            result.completeExceptionally(Completions.failure(completion));
        }
    }
}
