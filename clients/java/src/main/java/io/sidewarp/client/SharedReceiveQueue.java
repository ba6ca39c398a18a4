// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Receives that several connections share. A message takes the oldest receive, whichever connection carries the
 * message. {@link ConnectionOptions.Builder#sharedReceives} makes connections that use the queue.
 *
 * <p>To post many receives, use a {@link WorkQueue} ({@link WorkRequest#receive(SharedReceiveQueue, Sge...)}).
 * {@link WorkCompletion#connection()} names the connection whose message took a receive.
 */
public interface SharedReceiveQueue extends AutoCloseable {

    /**
     * Present use of a queue.
     *
     * @param receives receives that now wait for messages
     * @param limit limit that is armed; 0 if none is
     * @param connections number of connections that use the queue
     */
    record Usage(int receives, int limit, int connections) {}

    /** Returns the sidecar's number of the queue. */
    long id();

    /** Returns the number of the queue's protection domain. */
    long protectionDomain();

    /** Returns the number of receives that can be outstanding. */
    int capacity();

    /** Asks the sidecar for the present use of the queue. Fails with NOT_FOUND if the queue is gone. */
    Usage usage();

    /**
     * Arms the limit of the queue. {@link SessionListener#sharedReceiveLimitReached} is called once, when a message has
     * taken a receive and fewer receives than the limit are left.
     *
     * @param limit at most the capacity; 0 disarms the limit
     */
    void arm(int limit);

    /**
     * Posts one receive. Returns when a message has filled it.
     *
     * @throws SidewarpException RESOURCE_EXHAUSTED if the queue is full; {@link WorkFailedException} if the receive did
     *     not succeed
     */
    default WorkCompletion receive(Sge local) {
        return CallFuture.await(receiveAsync(List.of(local)));
    }

    CompletableFuture<WorkCompletion> receiveAsync(List<Sge> local);

    /**
     * Destroys the queue. Receives that no message took complete as {@link CompletionStatus#FLUSHED}.
     *
     * @throws SidewarpException FAILED_PRECONDITION while connections use the queue
     */
    @Override
    void close();
}
