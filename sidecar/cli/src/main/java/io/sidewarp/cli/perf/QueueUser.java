// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.client.CompletionHandler;
import io.sidewarp.client.CompletionTaker;
import io.sidewarp.client.CompletionView;
import io.sidewarp.client.QueuePath;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import java.time.Duration;

/** Takes the completions of a queue: on a thread that polls it, or over gRPC on the client's event loop. */
abstract class QueueUser implements CompletionHandler, CompletionTaker {

    private static final int BATCH = 64;
    private static final Duration FOREVER = Duration.ofDays(365);

    /** Takes the completions of a queue until it ends. */
    final void serve(WorkQueue queue) {
        if (queue.path() == QueuePath.RINGS) {
            Thread.ofPlatform().daemon().name("sidewarp-perf-poll").start(() -> poll(queue));
        } else {
            queue.onCompletion(this);
        }
    }

    private void poll(WorkQueue queue) {
        try {
            while (true) {
                queue.poll(this, BATCH, FOREVER);
            }
        } catch (SidewarpException e) {
            broken(e);
        } catch (RuntimeException | Error e) {
            broken(e);
            queue.close();
        }
    }

    /** Handles successful work with this ID. Called on one thread at a time. */
    abstract void completed(long id);

    /** Handles work that failed. */
    abstract void failed(WorkCompletion completion);

    /** Handles the end of completions: no more follow. */
    void broken(Throwable cause) {}

    @Override
    public final void onCompletion(WorkCompletion completion) {
        if (completion.isSuccess()) {
            completed(completion.id());
        } else {
            failed(completion);
        }
    }

    @Override
    public final void onCompletion(CompletionView completion) {
        if (completion.isSuccess()) {
            completed(completion.id());
        } else {
            failed(completion.toCompletion());
        }
    }

    @Override
    public final void onFailure(SidewarpException cause) {
        broken(cause);
    }
}
