// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair and its stream. Posting is thread-safe and never blocks. Results come through the completion queues.
 */
public interface QueuePair extends AutoCloseable {

    /** Number within the device, never reused. */
    long number();

    QueuePairState state();

    /** Posts a Write, Read or Send. The request is copied. */
    PostResult postSend(Wr request);

    /** Posts a receive. Legal from IDLE on, but not with a shared receive queue. The request is copied. */
    PostResult postReceive(Wr request);

    /**
     * Connects. The future fails with {@link PeerRejectedException} when the peer rejected, and with
     * {@link ConnectionFailedException} for every other failure.
     */
    default CompletableFuture<ConnectionAttributes> connect(InetSocketAddress remote, ConnectionParameters parameters) {
        return connect(List.of(remote), parameters);
    }

    /**
     * Connects to a peer that has several addresses. Uses the address that is reached first (RFC 8305) and sends the
     * request to this address only. The future fails with {@link PeerRejectedException} when the peer rejected,
     * and with {@link ConnectionFailedException} for every other failure.
     *
     * @param remotes addresses of the peer, the preferred address first, at least one. Several addresses need
     *     {@link Device#racesAddresses}
     */
    CompletableFuture<ConnectionAttributes> connect(List<InetSocketAddress> remotes, ConnectionParameters parameters);

    /**
     * Values that both sides agreed on in start-up. Legal in every state; addresses are unresolved until CONNECTING
     * ends.
     */
    ConnectionAttributes attributes();

    /** Returns a copy of the counters. */
    QueuePairCounters counters();

    /**
     * Returns true when the peer may not have placed some of the posted Writes, Sends or Immediate Data. This is the
     * case when the stream is gone without a complete graceful close of both sides. A later Read, atomic operation or
     * flush that succeeded confirms the placement (RFC 5040 section 5.5 rule 12). Valid from the event of CLOSED on.
     */
    boolean isUnconfirmed();

    /**
     * Completes when this side may send. The accepting side of MPA must not send before the peer's first message (RFC
     * 5044 section 7.1.2); posted work waits until then. Completes with RTS where that rule does not apply. Completes
     * on an event loop.
     */
    default CompletableFuture<Void> sendPermitted() {
        return CompletableFuture.completedFuture(null);
    }

    /** Returns the error that ended the stream, or null. Known before {@link #state()} reports the end. */
    default @Nullable StreamError error() {
        return null;
    }

    /**
     * Sets the action that runs when a message finds no receive, before the stream ends with an error. The action may
     * post receives. It runs on the event loop of the stream. A device that manages its receives itself ignores the
     * action.
     */
    default void setReceiveSupply(Runnable supply) {}

    /**
     * Sets the only listener for state changes and errors. Call this before connecting. The listener runs on an event
     * loop.
     */
    void setEventListener(QueuePairEventListener listener);

    /** Carries out all posted work, then closes gracefully. Completes when the stream is gone. */
    CompletableFuture<Void> disconnect();

    /** Ends the stream at once and flushes outstanding work. Completes when the stream is gone. */
    CompletableFuture<Void> abort();

    /** Aborts if necessary and releases all resources. */
    @Override
    void close();
}
