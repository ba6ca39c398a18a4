// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import io.sidewarp.engine.rdmap.StreamError;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair and its stream. Posting is thread-safe and never blocks; results come through the completion queues.
 */
public interface QueuePair extends AutoCloseable {

    /** Number within the device, never reused. */
    long number();

    QueuePairState state();

    /** Posts a Write, Read or Send. The request is copied. */
    PostResult postSend(WorkRequest request);

    /** Posts a receive; legal from IDLE on, and without shared receives. The request is copied. */
    PostResult postReceive(WorkRequest request);

    /**
     * Connects. The future fails with {@link ConnectionRejectedException} when the peer rejected, and with
     * {@link ConnectionFailedException} for everything else.
     */
    default CompletableFuture<ConnectionAttributes> connect(InetSocketAddress remote, ConnectionParameters parameters) {
        return connect(List.of(remote), parameters);
    }

    /**
     * Connects to the address of a peer that is reached first (RFC 8305); only that one is asked. The future fails with {@link
     * ConnectionRejectedException} when the peer rejected, and with {@link ConnectionFailedException} for everything else.
     *
     * @param remotes the preferred one first, at least one; several where {@link Device#racesAddresses} says so
     */
    CompletableFuture<ConnectionAttributes> connect(List<InetSocketAddress> remotes, ConnectionParameters parameters);

    /** What start-up agreed on, and counters. Legal in every state; addresses are unresolved before CONNECTING ends. */
    ConnectionAttributes attributes();

    /** A copy of the counters. */
    QueuePairCounters counters();

    /**
     * True when the stream is gone, did not end by a complete graceful close of both sides, and Writes, Sends or Immediate
     * Data had been posted of which nothing tells that the peer placed them. A later Read, atomic operation or flush that
     * succeeded tells so (RFC 5040 section 5.5 rule 12). Valid from the event of CLOSED on.
     */
    boolean isUnconfirmed();

    /**
     * Complete when this side may send. An accepting side of MPA may not before the peer's first message (RFC 5044 section
     * 7.1.2); posted work waits until then. Complete from RTS on where that rule does not hold. It completes on an event loop.
     */
    default CompletableFuture<Void> sendPermitted() {
        return CompletableFuture.completedFuture(null);
    }

    /** Returns the error that ended the stream, or null. Known before {@link #state()} tells of the end. */
    default @Nullable StreamError error() {
        return null;
    }

    /**
     * Sets what runs when a message finds no receive, before the stream ends for it. It may post receives; it runs on the
     * event loop of the stream. A device that keeps its receives itself ignores it.
     */
    default void setReceiveSupply(Runnable supply) {}

    /** Called for state changes and errors. One listener; set it before connecting. Runs on an event loop. */
    void setEventListener(QueuePairEventListener listener);

    /** Carries out everything posted, then closes gracefully. Complete when the stream is gone. */
    CompletableFuture<Void> disconnect();

    /** Ends the stream at once and flushes what is outstanding. Complete when the stream is gone. */
    CompletableFuture<Void> abort();

    /** Aborts if necessary and releases everything. */
    @Override
    void close();
}
