// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.ConnectionStateChange;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A connection to a peer: a queue pair with its stream. One of {@link Session#createConnection(ConnectionOptions)} has its
 * stream once it was given to connect or accept. The operations here are one call each and simple; a
 * {@link WorkQueue} is the fast way for many.
 *
 * <p>The blocking operations throw {@link SidewarpException} unless they succeed: a {@link WorkFailedException} when the
 * sidecar gave a completion with another status. The futures fail with the same.
 *
 * <p>A future that is cancelled, or times out, ends no work: what was posted is still carried out and uses its memory, a
 * posted receive still takes a message, and nobody is told.
 */
public interface Connection extends AutoCloseable {

    /** The sidecar's number for it. */
    long id();

    /** The peer's private data; may be empty, and is until the connection is established. */
    byte[] privateData();

    /** Returns what the set-up agreed on, without asking the sidecar again; before the set-up, the connection as created. */
    io.sidewarp.v1.Connection established();

    /** The connection's present description and counters, asked of the sidecar. NOT_FOUND when it is gone. */
    io.sidewarp.v1.Connection info();

    /** The last state that the sidecar told, without asking it. Behind the completions before it, as events are. */
    ConnectionState state();

    /** Completes with the last state change when the connection is closed, and fails when the session is lost. */
    CompletableFuture<ConnectionStateChange> closed();

    /**
     * One RDMA Write; returns when it is complete at this side: the region may be changed again. The peer may still refuse the
     * data; {@link #flush()} tells whether it arrived.
     */
    WorkCompletion write(Sge local, RemoteAddress remote);

    CompletableFuture<WorkCompletion> writeAsync(Sge local, RemoteAddress remote);

    /** As {@link #writeAsync(Sge, RemoteAddress)} with a gather list. */
    CompletableFuture<WorkCompletion> writeAsync(List<Sge> local, RemoteAddress remote);

    /** One RDMA Read; returns when the data is in the local region. */
    WorkCompletion read(Sge local, RemoteAddress remote);

    CompletableFuture<WorkCompletion> readAsync(Sge local, RemoteAddress remote);

    /** One Send; returns when it is complete at this side. */
    WorkCompletion send(Sge local);

    /** Send, with Solicited Event when asked for. */
    WorkCompletion send(Sge local, boolean solicited);

    CompletableFuture<WorkCompletion> sendAsync(Sge local, boolean solicited);

    CompletableFuture<WorkCompletion> sendAsync(List<Sge> local, boolean solicited);

    /** Send with Invalidate: invalidates an STag of the peer when the message is delivered there. */
    CompletableFuture<WorkCompletion> sendInvalidateAsync(List<Sge> local, boolean solicited, int stag);

    /**
     * Posts one receive and returns when a message has filled it. A connect or accept can overtake it: to have receives posted
     * before the peer can send, post them on a {@link WorkQueue}.
     */
    WorkCompletion receive(Sge local);

    CompletableFuture<WorkCompletion> receiveAsync(Sge local);

    CompletableFuture<WorkCompletion> receiveAsync(List<Sge> local);

    /**
     * Returns when all Writes, Sends and Immediate Data posted before, also on queues, have been placed at the peer's RDMA layer. The peer's
     * program may not have seen them, and they are not durable. Takes one of the connection's ord, and waits behind its Reads.
     *
     * @throws SidewarpException the peer's error; FAILED_PRECONDITION when the connection's ord is 0
     */
    void flush();

    /** As {@link #flush()}. */
    CompletableFuture<Void> flushAsync();

    /** One work request of any kind; returns when it is complete. */
    WorkCompletion perform(WorkRequest request);

    CompletableFuture<WorkCompletion> performAsync(WorkRequest request);

    /**
     * Adds to 64 bits of the peer's memory, and returns the value before.
     *
     * @see WorkRequest#fetchAdd(Connection, RemoteAddress, long)
     */
    long fetchAdd(RemoteAddress remote, long add);

    /**
     * Replaces 64 bits of the peer's memory if they are as expected, and returns the value before.
     *
     * @see WorkRequest#compareSwap(Connection, RemoteAddress, long, long)
     */
    long compareSwap(RemoteAddress remote, long compare, long swap);

    /**
     * Every change of state until the connection is closed, beginning with the present state. One at a time, each behind the
     * completions of the connection that came before it, as {@link SessionListener#connectionChanged} says.
     */
    Subscription watch(Consumer<ConnectionStateChange> listener);

    /**
     * Carries out everything posted, also on queues before this call, then closes. Returns when the connection is closed.
     *
     * @throws SidewarpException when an error ended the connection before that, and earlier data may not have arrived; what a
     *     successful flush, Read or atomic operation confirmed has. FAILED_PRECONDITION when posted work did not come to the
     *     sidecar; the connection stays open
     */
    void disconnect();

    CompletableFuture<Void> disconnectAsync();

    /** Closes at once; outstanding work is flushed. Waits for the sidecar also when the thread is interrupted. */
    void abort();

    /**
     * As {@link #disconnect()}, also when the connection is gone already: it throws if earlier data may not have arrived, once.
     * Waits also when the thread is interrupted, but no longer than the time limit of a call; then it aborts, and throws if
     * something is not confirmed.
     */
    @Override
    void close();
}
