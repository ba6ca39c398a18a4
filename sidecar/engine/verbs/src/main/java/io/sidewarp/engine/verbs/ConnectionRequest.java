// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Connection request of a peer. Only the first answer takes effect. The request lapses when the start-up time ends,
 * when the peer leaves, and when the listener is closed.
 */
public interface ConnectionRequest {

    InetSocketAddress remoteAddress();

    InetSocketAddress localAddress();

    /** Returns the values of TLS with the peer's identity. Empty for a peer without TLS. */
    default Optional<TlsAttributes> tls() {
        return Optional.empty();
    }

    /** The peer's private data, at most 512 bytes. */
    byte[] privateData();

    /** Revision of MPA that the peer requests (RFC 5044 section 7.1.1), 0 for an RDMAC peer. */
    int mpaRevision();

    /** Returns the IRD and ORD that the peer stated. */
    ReadDepths peerDepths();

    /** Bytes of private data that fit in an answer: 512 less the bytes that MPA needs (RFC 6581 section 6). */
    int replyRoom();

    /**
     * Completes when the request takes no more answers, because it was answered or has lapsed. The request then no
     * longer counts for the backlog of the listener. An application that keeps requests must drop this request then.
     * Completes on the event loop of the connection.
     */
    CompletableFuture<Void> over();

    /**
     * Accepts with a queue pair in state IDLE. The future completes when the queue pair is in state RTS. The first of
     * several calls counts. A call that fails because of its queue pair or its parameters does not count: the request
     * keeps waiting.
     */
    CompletableFuture<ConnectionAttributes> accept(QueuePair queuePair, ConnectionParameters parameters);

    /** Rejects the request and sends private data of at most {@link #replyRoom} bytes to the peer. */
    CompletableFuture<Void> reject(byte[] privateData);

    /**
     * Rejects because the peer serves too few RDMA Reads. Tells the peer the required number if start-up has room for
     * that number (RFC 6581 section 9.1).
     */
    CompletableFuture<Void> reject(byte[] privateData, int requiredOrd);

    /**
     * Refuses the request without asking the application. Over TCP the peer gets a rejection. Over SCTP the peer gets a
     * Terminate, because only the application may reject (RFC 5043 section 6.3). Has no effect if the request has
     * lapsed or was answered.
     */
    void refuse();
}
