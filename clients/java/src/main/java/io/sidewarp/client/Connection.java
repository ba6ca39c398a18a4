// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A connection to a peer: a queue pair with its stream. A connection of
 * {@link Session#createConnection(ConnectionOptions)} has its stream after it was given to connect or accept. Each
 * operation here is simple and takes one call; a {@link WorkQueue} is the fast way for many operations.
 *
 * <p>The blocking operations throw {@link SidewarpException} unless they succeed. They throw
 * {@link WorkFailedException} if the sidecar returned a completion with another status. The futures fail with the same
 * exceptions.
 *
 * <p>A future that is cancelled or times out does not end its work. Posted work is still carried out and uses its
 * memory, and a posted receive still takes a message. The caller gets no completion.
 */
public interface Connection extends AutoCloseable {

    /** State of a connection (RFC 5040 section 6.2, in words that verbs users know). */
    enum State {
        /** Start-up of TCP and MPA, or of SCTP. */
        CONNECTING,
        /** Full operation: work requests are carried out. */
        ESTABLISHED,
        /** Graceful close, begun by this side or by the peer. */
        CLOSING,
        /** Error, found here or reported by the peer. Outstanding work is flushed. */
        TERMINATED,
        CLOSED,
        /**
         * Established or closing, but posted work cannot be sent. MPA lets the accepting side send only after the
         * peer's first message (RFC 5044 section 7.1.2). Let the connecting side send first, or connect with
         * {@link ConnectionOptions.Builder#peerToPeer}. After that message the state is ESTABLISHED or CLOSING again.
         */
        WAITING_FOR_PEER,
        /** Created, and not yet used to connect or accept. The connection takes receives, and no send work. */
        IDLE,
        /** State that a newer sidecar knows and this client does not. */
        UNKNOWN
    }

    /** Returns the sidecar's number of the connection. */
    long id();

    /** Returns the peer's private data. It may be empty, and is empty until the connection is established. */
    byte[] privateData();

    /**
     * Returns the result of the set-up without a call to the sidecar. Before the set-up, returns the connection as
     * created.
     */
    ConnectionInfo established();

    /** Returns the SPIFFE ID of the peer, which TLS has verified. Empty without TLS, and before the set-up. */
    default Optional<String> peerIdentity() {
        return established().agreed().peerIdentity();
    }

    /**
     * Asks the sidecar for the present description and counters of the connection. Fails with NOT_FOUND if the
     * connection is gone.
     */
    ConnectionInfo info();

    /**
     * Returns the last state that the sidecar reported, without a call. As for events, earlier completions come first.
     */
    State state();

    /**
     * Returns a future that completes with the last state change when the connection is closed. It fails when the
     * session is lost.
     */
    CompletableFuture<ConnectionEvent> closed();

    /**
     * Carries out one RDMA Write. Returns when the Write is complete at this side: the local region may be changed
     * again. The peer may still refuse the data; {@link #flush()} reports whether the data arrived.
     */
    default WorkCompletion write(Sge local, RemoteAddress remote) {
        return CallFuture.await(writeAsync(local, remote));
    }

    default CompletableFuture<WorkCompletion> writeAsync(Sge local, RemoteAddress remote) {
        return writeAsync(List.of(local), remote);
    }

    /** Carries out an RDMA Write as {@link #writeAsync(Sge, RemoteAddress)} does, from a gather list. */
    CompletableFuture<WorkCompletion> writeAsync(List<Sge> local, RemoteAddress remote);

    /** Carries out one RDMA Read. Returns when the data is in the local region. */
    default WorkCompletion read(Sge local, RemoteAddress remote) {
        return CallFuture.await(readAsync(local, remote));
    }

    CompletableFuture<WorkCompletion> readAsync(Sge local, RemoteAddress remote);

    /** Carries out one Send. Returns when the Send is complete at this side. */
    default WorkCompletion send(Sge local) {
        return send(local, false);
    }

    /** Carries out one Send, with Solicited Event if requested. */
    default WorkCompletion send(Sge local, boolean solicited) {
        return CallFuture.await(sendAsync(local, solicited));
    }

    default CompletableFuture<WorkCompletion> sendAsync(Sge local, boolean solicited) {
        return sendAsync(List.of(local), solicited);
    }

    CompletableFuture<WorkCompletion> sendAsync(List<Sge> local, boolean solicited);

    /** Carries out a Send with Invalidate, which invalidates an STag of the peer when the message is delivered. */
    CompletableFuture<WorkCompletion> sendInvalidateAsync(List<Sge> local, boolean solicited, int stag);

    /**
     * Posts one receive. Returns when a message has filled it. A connect or accept call can overtake this call. To post
     * receives before the peer can send, post them on a {@link WorkQueue}.
     */
    default WorkCompletion receive(Sge local) {
        return CallFuture.await(receiveAsync(local));
    }

    default CompletableFuture<WorkCompletion> receiveAsync(Sge local) {
        return receiveAsync(List.of(local));
    }

    CompletableFuture<WorkCompletion> receiveAsync(List<Sge> local);

    /**
     * Returns when all earlier Writes, Sends and Immediate Data, also of queues, have been placed at the peer's RDMA
     * layer. The peer's program may not have seen the data, and the data is not durable. A flush takes one of the
     * connection's ord, and waits behind its Reads.
     *
     * @throws SidewarpException the peer's error; FAILED_PRECONDITION if the connection's ord is 0
     */
    default void flush() {
        CallFuture.await(flushAsync());
    }

    /** Flushes as {@link #flush()} does, without waiting. */
    CompletableFuture<Void> flushAsync();

    /** Carries out one work request of any kind. Returns when the work is complete. */
    default WorkCompletion perform(WorkRequest request) {
        return CallFuture.await(performAsync(request));
    }

    CompletableFuture<WorkCompletion> performAsync(WorkRequest request);

    /**
     * Adds to 64 bits of the peer's memory, and returns the earlier value.
     *
     * @see WorkRequest#fetchAdd(Connection, RemoteAddress, long)
     */
    default long fetchAdd(RemoteAddress remote, long add) {
        return perform(WorkRequest.fetchAdd(this, remote, add)).original().orElseThrow();
    }

    /**
     * Replaces 64 bits of the peer's memory if they equal the expected value, and returns the earlier value.
     *
     * @see WorkRequest#compareSwap(Connection, RemoteAddress, long, long)
     */
    default long compareSwap(RemoteAddress remote, long compare, long swap) {
        return perform(WorkRequest.compareSwap(this, remote, compare, swap))
                .original()
                .orElseThrow();
    }

    /**
     * Watches the state of the connection until the connection is closed. The listener gets the present state first,
     * and then every change, one at a time. Each change comes after the earlier completions of the connection, as
     * {@link SessionListener#connectionChanged} describes.
     */
    Subscription watch(Consumer<ConnectionEvent> listener);

    /**
     * Carries out all posted work, also of earlier posts on queues, and then closes. Returns when the connection is
     * closed.
     *
     * @throws SidewarpException if an error ended the connection before the close, and earlier data may not have
     *     arrived. A successful flush, Read or atomic operation confirms the data before it. FAILED_PRECONDITION if
     *     posted work did not reach the sidecar; the connection stays open.
     */
    default void disconnect() {
        CallFuture.await(disconnectAsync());
    }

    CompletableFuture<Void> disconnectAsync();

    /** Closes at once; outstanding work is flushed. Waits for the sidecar even if the thread is interrupted. */
    void abort();

    /**
     * Closes as {@link #disconnect()} does. If the connection is already gone, the method throws once if earlier data
     * may not have arrived.
     *
     * <p>The method waits even if the thread is interrupted, but no longer than the time limit of a call. After that it
     * aborts the connection, and throws if data is not confirmed.
     */
    @Override
    void close();
}
