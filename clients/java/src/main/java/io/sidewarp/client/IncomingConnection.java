// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/**
 * A peer's connection request. Accept or reject it, one decision at a time. The request lapses when the set-up time is
 * over, the peer leaves, or the listener is closed.
 *
 * <p>The sidecar may refuse the options of a decision, with INVALID_ARGUMENT, PERMISSION_DENIED or RESOURCE_EXHAUSTED,
 * for example. The request then still waits: accept it with other options, or reject it. Every other outcome is final.
 */
public interface IncomingConnection {

    /** Returns the sidecar's number of the request. */
    long id();

    /** Returns the peer's IP address. */
    String remoteAddress();

    int remotePort();

    /** Returns the peer's private data; may be empty. */
    byte[] privateData();

    /** Returns the MPA revision of the peer's request. */
    int mpaRevision();

    /** Returns the RDMA Reads that the peer serves at a time, if the peer announced them. */
    OptionalInt peerIrd();

    /** Returns the RDMA Reads that the peer wants to have served at a time, if the peer announced them. */
    OptionalInt peerOrd();

    /** Returns the SPIFFE ID of the peer, which TLS has verified. Empty without TLS. */
    Optional<String> peerIdentity();

    /** Returns how many bytes of private data fit into the answer. */
    int maxPrivateData();

    /** Accepts with default options, as {@link #accept(ConnectionOptions)}. */
    default Connection accept() {
        return accept(ConnectionOptions.defaults());
    }

    /**
     * Accepts, and sends the private data of the options. Returns when the stream is in full operation.
     *
     * @throws SidewarpException NOT_FOUND if the request lapsed or was already decided, FAILED_PRECONDITION while
     *     another decision is outstanding
     */
    default Connection accept(ConnectionOptions options) {
        Transport.checkMayBlock();
        return CallFuture.await(acceptAsync(options));
    }

    /**
     * Accepts as {@link #accept(ConnectionOptions)} does, without waiting. If the future is cancelled or times out, the
     * attempt continues, as with {@link Session#connectAsync(String, int, ConnectionOptions)}, and its connection is
     * aborted.
     *
     * @throws SidewarpException FAILED_PRECONDITION while another decision is outstanding
     */
    CompletableFuture<Connection> acceptAsync(ConnectionOptions options);

    /**
     * Accepts with a connection of {@link Session#createConnection(ConnectionOptions)}, with its options and private
     * data. Otherwise works as {@link #accept(ConnectionOptions)}. The attempt begins behind the work that was posted
     * to the connection on queues.
     *
     * <p>An attempt that fails closes the connection. A call that the sidecar refuses leaves the connection idle; the
     * code is then NOT_FOUND, FAILED_PRECONDITION or RESOURCE_EXHAUSTED, for example.
     *
     * @return the same connection
     */
    default Connection accept(Connection created) {
        Transport.checkMayBlock();
        return CallFuture.await(acceptAsync(created));
    }

    /**
     * Accepts as {@link #accept(Connection)} does, without waiting. A cancelled future works as for
     * {@link #acceptAsync(ConnectionOptions)}.
     */
    CompletableFuture<Connection> acceptAsync(Connection created);

    /**
     * Rejects the request. The peer receives the private data.
     *
     * @throws SidewarpException as {@link #accept(ConnectionOptions)}
     */
    void reject(byte[] privateData);

    /** Rejects the request because the peer serves too few RDMA Reads. The peer learns the required number. */
    void reject(byte[] privateData, int requiredOrd);

    /** Rejects without private data. */
    default void reject() {
        reject(new byte[0]);
    }
}
