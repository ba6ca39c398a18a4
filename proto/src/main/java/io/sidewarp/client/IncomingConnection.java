// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.ConnectionRequest;
import java.util.concurrent.CompletableFuture;

/**
 * A peer's connection request. Accept or reject it, one decision at a time. It lapses when the set-up time is over, the
 * peer leaves, or its listener is closed.
 *
 * <p>A decision that the sidecar refuses for what it asks, as with INVALID_ARGUMENT, PERMISSION_DENIED or
 * RESOURCE_EXHAUSTED, leaves the request waiting: accept it otherwise, or reject it. Every other outcome is final.
 */
public interface IncomingConnection {

    /** The sidecar's number for the request. */
    long id();

    /** The peer's IP address. */
    String remoteAddress();

    int remotePort();

    /** What the peer sent along; may be empty. */
    byte[] privateData();

    /**
     * The request as the sidecar told it, with the peer's MPA revision, the RDMA Reads that it serves and wants, and how much
     * private data the answer takes.
     */
    ConnectionRequest info();

    /** Accepts with defaults, as {@link #accept(ConnectionOptions)}. */
    default Connection accept() {
        return accept(ConnectionOptions.defaults());
    }

    /**
     * Accepts, with the private data of the options. Returns when the stream is in full operation.
     *
     * @throws SidewarpException NOT_FOUND when the request lapsed or was decided already, FAILED_PRECONDITION while
     *     another decision is under way
     */
    Connection accept(ConnectionOptions options);

    /**
     * As {@link #accept(ConnectionOptions)}, without waiting. When the future is cancelled or times out, the attempt
     * continues, as with {@link Session#connectAsync(String, int, ConnectionOptions)}, and its connection is aborted.
     *
     * @throws SidewarpException FAILED_PRECONDITION while another decision is under way
     */
    CompletableFuture<Connection> acceptAsync(ConnectionOptions options);

    /**
     * As {@link #accept(ConnectionOptions)}, with a connection of {@link Session#createConnection(ConnectionOptions)}, its
     * options and private data, behind what was posted to it on queues. An attempt that fails closes the connection. A call that
     * the sidecar refuses, as with NOT_FOUND, FAILED_PRECONDITION or RESOURCE_EXHAUSTED, leaves it idle.
     *
     * @return the same connection
     */
    Connection accept(Connection created);

    /** As {@link #accept(Connection)}, without waiting; see {@link #acceptAsync(ConnectionOptions)}. */
    CompletableFuture<Connection> acceptAsync(Connection created);

    /**
     * Rejects; the peer gets the private data.
     *
     * @throws SidewarpException as {@link #accept(ConnectionOptions)}
     */
    void reject(byte[] privateData);

    /** Rejects because the peer serves too few RDMA Reads, and tells it how many would do. */
    void reject(byte[] privateData, int requiredOrd);

    /** Rejects without private data. */
    default void reject() {
        reject(new byte[0]);
    }
}
