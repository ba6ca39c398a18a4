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
import java.util.function.Supplier;

/**
 * Counts the work requests for one connection from its session's queues. Other calls can wait for a number of them (after_posts
 * of Connect, Accept, Flush and Disconnect). Confined to the session's thread.
 */
final class PostCount {

    /** Reason why posted work waits at this side. */
    enum Hold {
        /** No work waits. */
        NONE,
        /** Send queues are full. The peer decides when they have space, so calls wait without a time limit. */
        SEND_QUEUE,
        /** Completion rings are full. The application decides when they have room. */
        COMPLETION_RING
    }

    /** Maximum time in ms that a call waits for the next work request. */
    private static final long PATIENCE_MILLIS = 1000;

    /** The same while work waits for room in a completion ring, in units of {@link #PATIENCE_MILLIS}. */
    private static final int ROOM_PATIENCE = 5;

    private final long connection;
    private final EventLoop loop;
    private final LongSupplier progress;
    private final Supplier<Hold> hold;
    private final List<Wait> waits = new ArrayList<>();
    private long posts;
    private boolean ended;

    /** @param progress returns the number of completions so far */
    PostCount(long connection, EventLoop loop, LongSupplier progress, Supplier<Hold> hold) {
        this.connection = connection;
        this.loop = loop;
        this.progress = progress;
        this.hold = hold;
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
        private int looks;

        Wait(long count) {
            this.count = count;
        }

        void schedule() {
            postsBefore = posts;
            progressBefore = progress.getAsLong();
            looks = 0;
            lookLater();
        }

        private void lookLater() {
            loop.schedule(this::look, PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        }

        private void look() {
            if (result.isDone()) {
                return;
            }
            Hold reason = hold.get();
            if (posts != postsBefore || progress.getAsLong() != progressBefore || reason == Hold.SEND_QUEUE) {
                schedule();
            } else if (reason == Hold.COMPLETION_RING && ++looks < ROOM_PATIENCE) {
                lookLater();
            } else {
                waits.remove(this);
                result.completeExceptionally(ApiError.of(Status.Code.FAILED_PRECONDITION, text(reason)));
            }
        }

        private String text(Hold reason) {
            String taken = "after_posts is " + Long.toUnsignedString(count) + ", but only " + posts
                    + " work requests of connection " + connection + " were taken from queues, and none for ";
            return reason == Hold.COMPLETION_RING
                    ? taken + ROOM_PATIENCE * PATIENCE_MILLIS
                            + " ms. Others wait in a ring whose completion ring is full."
                            + " The connection stays as it is: take completions and call again, or create a completion"
                            + " ring with more entries"
                    : taken + PATIENCE_MILLIS + " ms. The connection stays as it is: post the rest and call again, or"
                            + " call without after_posts, or Disconnect with abort";
        }
    }
}
