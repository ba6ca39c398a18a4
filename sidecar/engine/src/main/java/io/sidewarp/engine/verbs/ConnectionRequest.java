// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/** A peer that asks to connect. Exactly one of the two answers is taken; the request lapses with the start-up time. */
public interface ConnectionRequest {

    InetSocketAddress remoteAddress();

    InetSocketAddress localAddress();

    /** The peer's private data, at most 512 octets. */
    byte[] privateData();

    /** Accepts with a queue pair in state IDLE. Complete when the queue pair is in state RTS. */
    CompletableFuture<ConnectionAttributes> accept(QueuePair queuePair, ConnectionParameters parameters);

    /** Rejects; the peer gets the private data (at most 512 octets). */
    CompletableFuture<Void> reject(byte[] privateData);
}
