// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A pipeline of work requests and completions between this process and the sidecar, for any connections of its session.
 * Thread-safe. As many requests may be outstanding as {@link #credits()} says; a completion makes room again. Send work of
 * one connection starts in the order in which it was posted, and so do its receives.
 *
 * <p>Over gRPC, requests that are posted close together travel in one message without being asked to; nothing waits for a
 * timer. In rings, the sidecar sees each request at once.
 *
 * <p>Completions of posted requests go to the handler, or without one wait for {@link #poll}; those of submitted requests go
 * to their futures. All in the order of their arrival. Handler and futures run on the client's event loop, or with rings on a
 * thread of the queue; futures may also complete on a thread that polls.
 */
public interface WorkQueue extends AutoCloseable {

    /** {@link QueuePath#RINGS} or {@link QueuePath#GRPC}. */
    QueuePath path();

    /**
     * Work requests that may be outstanding, as the sidecar granted. In rings more can be posted, as {@link #available()} tells;
     * they wait there until completions are taken.
     */
    int credits();

    /**
     * Work requests that can be posted now without waiting. Over gRPC it may be one fewer of receives, see {@link #tryPost}. In
     * rings these are the free blocks for send work; a request with several local parts takes several.
     */
    int available();

    /**
     * Sets who takes the completions of posted requests. Set it before the first post.
     *
     * @throws IllegalStateException when there is a handler already
     */
    void onCompletion(CompletionHandler handler);

    /**
     * Posts without waiting.
     *
     * <p>Over gRPC, when all send work that is outstanding is unsignaled, the last credit is not for receives: it is left to work whose
     * completion brings the others back.
     *
     * @param id the caller's own, returned in the completion
     * @return false when no credit, or no room in the ring, is free for the request; nothing was posted then
     * @throws SidewarpException when the queue or its session ended
     */
    boolean tryPost(long id, WorkRequest request);

    /** Posts like {@link #tryPost}, and waits for room as long as it takes. Neither on the event loop nor in a handler. */
    void post(long id, WorkRequest request);

    /**
     * Posts, and waits for room at most as long as given.
     *
     * @throws SidewarpException DEADLINE_EXCEEDED when there was no room in time
     */
    void post(long id, WorkRequest request, Duration timeout);

    /**
     * Runs {@code posting}, and hands everything that it posts from this thread to the sidecar in one message, or in
     * few when it is much. With rings, a sidecar that sleeps is woken once, at the end.
     */
    void batch(Consumer<WorkQueue> posting);

    /**
     * Posts like {@link #post(long, WorkRequest)} and tells the outcome through a future, which completes with any
     * status; {@link WorkCompletion#orThrow()} turns failures into exceptions. The id of the completion is 0.
     *
     * @throws IllegalArgumentException when the request is unsignaled
     */
    CompletableFuture<WorkCompletion> submit(WorkRequest request);

    /**
     * The next completion of a posted request. Without a handler only; the request's credit becomes free with it.
     *
     * @return empty when none came in time
     * @throws SidewarpException when the queue ended and no completions are left
     */
    Optional<WorkCompletion> poll(Duration timeout);

    /**
     * Hands completions of posted requests to a taker, without waiting. On the path {@link QueuePath#RINGS} nothing is allocated
     * for a completion that succeeds. The taker runs on this thread, and the queue holds no lock meanwhile: the taker may post,
     * and other threads may post and poll. Without a handler only.
     *
     * <p>When the taker throws, the completions behind that one stay in the queue.
     *
     * @param limit completions at most, 1 and more
     * @return how many the taker got
     * @throws SidewarpException when the queue ended and no completions are left
     */
    default int poll(CompletionTaker taker, int limit) {
        return poll(taker, limit, Duration.ZERO);
    }

    /** As {@link #poll(CompletionTaker, int)}, and waits for the first completion at most as long as given. */
    default int poll(CompletionTaker taker, int limit, Duration timeout) {
        return PolledCompletions.poll(this, taker, limit, timeout);
    }

    /**
     * Takes no more posts and waits until all outstanding work is complete. With rings, where the last request of a connection
     * is unsignaled, the queue posts an RDMA Write of no bytes behind it, whose completion tells.
     *
     * @return false when it is not complete in time
     */
    boolean drain(Duration timeout);

    /**
     * Ends the queue. Work that the sidecar has taken is still carried out, but the completions of all that is
     * outstanding are lost: futures fail, and the handler is told. {@link #drain} first to see them.
     */
    @Override
    void close();
}
