// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/**
 * A peer that asks to connect. Exactly one of the answers is taken; the request lapses with the start-up time, when
 * the peer leaves, and when the listener is closed.
 */
public interface ConnectionRequest {

    InetSocketAddress remoteAddress();

    InetSocketAddress localAddress();

    /** The peer's private data, at most 512 bytes. */
    byte[] privateData();

    /** Revision of MPA that the peer asks with (RFC 5044 section 7.1.1); 0 is an RDMAC peer. */
    int mpaRevision();

    /** What the peer said of RDMA Reads. */
    ReadDepths peerDepths();

    /** Bytes of private data that an answer has room for: 512 less what MPA needs (RFC 6581 section 6). */
    int replyRoom();

    /**
     * Complete when no answer is taken any more: one was, or the request lapsed. From then on it does not count for the
     * listener's backlog, so who keeps requests has to let go of this one. Completes on the connection's event loop.
     */
    CompletableFuture<Void> over();

    /**
     * Accepts with a queue pair in state IDLE. Complete when the queue pair is in state RTS. Of two calls the one that is
     * taken first counts. One that fails because of its queue pair or its parameters is not taken: the request waits on.
     */
    CompletableFuture<ConnectionAttributes> accept(QueuePair queuePair, ConnectionParameters parameters);

    /** Rejects; the peer gets the private data, at most {@link #replyRoom}. */
    CompletableFuture<Void> reject(byte[] privateData);

    /**
     * Rejects because the peer serves too few RDMA Reads, and tells it how many would do, if its start-up has room for
     * that (RFC 6581 section 9.1).
     */
    CompletableFuture<Void> reject(byte[] privateData, int requiredOrd);

    /**
     * Refuses in place of the application, which is not asked. Over SCTP, where a rejection is the application's alone (RFC
     * 5043 section 6.3), the peer gets a Terminate; over TCP it is rejected. Without effect if the request has lapsed or was
     * answered.
     */
    void refuse();
}
