// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Receives that connections share: a message takes the oldest one, on whichever connection it arrives. Connections are
 * made with it by {@link ConnectionOptions.Builder#sharedReceives}; many receives are best posted to a {@link WorkQueue}
 * ({@link WorkRequest#receive(SharedReceiveQueue, Sge...)}). {@link WorkCompletion#connection()} tells whose message took
 * a receive.
 */
public interface SharedReceiveQueue extends AutoCloseable {

    /** The sidecar's number for it. */
    long id();

    /** The number of its protection domain. */
    long protectionDomain();

    /** Receives that can be outstanding. */
    int capacity();

    /** Its present description, asked of the sidecar. NOT_FOUND when it is gone. */
    io.sidewarp.v1.SharedReceiveQueue info();

    /**
     * Asks to be told once ({@link SessionListener#sharedReceiveLimitReached}) when a message took a receive and fewer
     * than so many are left.
     *
     * @param limit at most the capacity; 0: do not tell
     */
    void arm(int limit);

    /**
     * Posts one receive and returns when a message has filled it.
     *
     * @throws SidewarpException RESOURCE_EXHAUSTED when the queue is full; {@link WorkFailedException} when the receive
     *     did not succeed
     */
    WorkCompletion receive(Sge local);

    CompletableFuture<WorkCompletion> receiveAsync(List<Sge> local);

    /**
     * Destroys it. Receives that no message took complete as {@link CompletionStatus#FLUSHED}.
     *
     * @throws SidewarpException FAILED_PRECONDITION while connections use it
     */
    @Override
    void close();
}
