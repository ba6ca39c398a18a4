// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.netty.channel.EventLoop;
import io.sidewarp.service.error.ApiError;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Counts the work requests for one connection from Queue calls. Other calls can wait for a number of them (after_posts
 * of Connect, Accept, Flush and Disconnect). Confined to the session's thread.
 */
final class PostCount {

    /** Value of {@link #progress} while this side holds work back, so that waiting calls must not give up. */
    static final long HELD_BACK = -1;

    /** Maximum time in ms that a call waits for the next work request. */
    private static final long PATIENCE_MILLIS = 1000;

    private final long connection;
    private final EventLoop loop;
    private final LongSupplier progress;
    private final List<Wait> waits = new ArrayList<>();
    private long posts;
    private boolean ended;

    /** @param progress returns the number of completions so far, or {@link #HELD_BACK} */
    PostCount(long connection, EventLoop loop, LongSupplier progress) {
        this.connection = connection;
        this.loop = loop;
        this.progress = progress;
    }

    /** Counts a work request that was begun or refused. */
    void increment() {
        posts++;
        if (!waits.isEmpty()) {
            settle();
        }
    }

    /**
     * Returns a future that completes after {@code count} work requests, or when the connection ends. Fails with
     * FAILED_PRECONDITION if the work requests do not arrive.
     */
    CompletableFuture<Void> reached(long count) {
        if (isReached(count)) {
            return CompletableFuture.completedFuture(null);
        }
        Wait wait = new Wait(count);
        waits.add(wait);
        wait.schedule();
        return wait.result;
    }

    /** Ends all waits because the connection is gone. */
    void end() {
        ended = true;
        settle();
    }

    private boolean isReached(long count) {
        return ended || Long.compareUnsigned(posts, count) >= 0;
    }

    private void settle() {
        for (Wait wait : List.copyOf(waits)) {
            if (isReached(wait.count)) {
                waits.remove(wait);
                wait.result.complete(null);
            }
        }
    }

    /** Wait of one call. */
    private final class Wait {

        private final long count;
        private final CompletableFuture<Void> result = new CompletableFuture<>();
        private long postsBefore;
        private long progressBefore;

        Wait(long count) {
            this.count = count;
        }

        void schedule() {
            postsBefore = posts;
            progressBefore = progress.getAsLong();
            loop.schedule(this::look, PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        }

        private void look() {
            if (result.isDone()) {
                return;
            }
            long now = progress.getAsLong();
            if (posts != postsBefore || now != progressBefore || now == HELD_BACK) {
                schedule();
                return;
            }
            waits.remove(this);
            result.completeExceptionally(ApiError.of(
                    Status.Code.FAILED_PRECONDITION,
                    "after_posts is " + Long.toUnsignedString(count) + ", but only " + posts
                            + " work requests of connection " + connection + " came on Queue calls, and none for "
                            + PATIENCE_MILLIS + " ms. The connection stays as it is: post the rest and call again, or"
                            + " call without after_posts, or Disconnect with abort"));
        }
    }
}
