// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A queue of work requests and completions between this process and the sidecar, for all connections of one session.
 * Thread-safe. At most {@link #credits()} requests may be outstanding; each completion makes room for another. Send
 * work of one connection starts in the order of posting. Receives of one connection also start in that order.
 *
 * <p>Over gRPC, requests that are posted close together travel in one message. No timer delays them. With rings, the
 * sidecar sees each request at once.
 *
 * <p>Completions of posted requests go to the handler; without a handler they wait for {@link #poll}. Completions of
 * submitted requests go to their futures. All completions are delivered in the order of arrival. Over gRPC, the handler
 * and the futures run on the client's event loop. With rings, they run on a thread of the queue. Futures may also
 * complete on a thread that polls.
 */
public interface WorkQueue extends AutoCloseable {

    /** Returns {@link QueuePath#RINGS} or {@link QueuePath#GRPC}. */
    QueuePath path();

    /**
     * Returns the number of outstanding work requests that the sidecar allows. With rings, more requests can be posted,
     * as {@link #available()} shows. Further requests wait in the ring until completions are taken.
     */
    int credits();

    /**
     * Returns the number of work requests that can be posted now without waiting. Over gRPC, receives may get one place
     * fewer, see {@link #tryPost}. With rings, the number counts the free blocks for send work; a request with several
     * local parts takes several blocks.
     */
    int available();

    /**
     * Sets the handler for the completions of posted requests. Call this before the first post.
     *
     * @throws IllegalStateException if the queue already has a handler
     */
    void onCompletion(CompletionHandler handler);

    /**
     * Posts a request if there is room, without waiting.
     *
     * <p>Over gRPC, receives may not take the last credit while all outstanding send work is unsignaled. The last
     * credit is reserved for signaled work, whose completion returns the other credits.
     *
     * @param id number that the caller chooses, returned in the completion
     * @return false if no credit or no room in the ring is free; the request was not posted
     * @throws SidewarpException if the queue or its session ended
     */
    boolean tryPost(long id, WorkRequest request);

    /**
     * Posts as {@link #tryPost} does, and waits for room without a time limit. Do not call this on the event loop or in
     * a handler.
     */
    default void post(long id, WorkRequest request) {
        post(id, request, Durations.FOREVER);
    }

    /**
     * Posts a request, and waits for room no longer than the time-out.
     *
     * @throws SidewarpException DEADLINE_EXCEEDED if there was no room in time
     */
    void post(long id, WorkRequest request, Duration timeout);

    /**
     * Runs {@code posting}, and hands all requests that it posts on this thread to the sidecar in one message. A large
     * batch takes a few messages. With rings, a sleeping sidecar is woken once, at the end.
     */
    void batch(Consumer<WorkQueue> posting);

    /**
     * Posts as {@link #post(long, WorkRequest)} does, and returns a future for the completion. A failed request
     * completes the future normally; {@link WorkCompletion#orThrow()} turns failures into exceptions. The id of the
     * completion is 0.
     *
     * @throws IllegalArgumentException if the request is unsignaled
     */
    CompletableFuture<WorkCompletion> submit(WorkRequest request);

    /**
     * Returns the next completion of a posted request, and frees the credit of the request. Only for queues without a
     * handler.
     *
     * @return empty if no completion came in time
     * @throws SidewarpException if the queue ended and no completions are left
     */
    Optional<WorkCompletion> poll(Duration timeout);

    /**
     * Hands completions of posted requests to a taker, without waiting. Only for queues without a handler. On the path
     * {@link QueuePath#RINGS} a successful completion allocates nothing. The taker runs on the calling thread. The
     * queue holds no lock meanwhile: the taker may post, and other threads may post and poll.
     *
     * <p>If the taker throws, the later completions stay in the queue.
     *
     * @param limit maximum number of completions, at least 1
     * @return number of completions that the taker got
     * @throws SidewarpException if the queue ended and no completions are left
     */
    default int poll(CompletionTaker taker, int limit) {
        return poll(taker, limit, Duration.ZERO);
    }

    /**
     * Polls as {@link #poll(CompletionTaker, int)} does, and waits for the first completion no longer than the
     * time-out.
     */
    default int poll(CompletionTaker taker, int limit, Duration timeout) {
        return PolledCompletions.poll(this, taker, limit, timeout);
    }

    /**
     * Refuses further posts and waits until all outstanding work is complete. In rings, the last request of a
     * connection may be unsignaled. The queue then posts a zero-length RDMA Write after that request. The completion of
     * the Write shows that the request is complete.
     *
     * @return false if the work is not complete in time
     */
    boolean drain(Duration timeout);

    /**
     * Ends the queue. Work that the sidecar has taken is still carried out, but the completions of all outstanding work
     * are lost: futures fail, and the handler is notified. To get the completions, call {@link #drain} first.
     */
    @Override
    void close();
}
