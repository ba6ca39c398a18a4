// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/** A bound address at which peers can connect. */
public interface VerbsListener {

    InetSocketAddress localAddress();

    /** Returns the local UDP port when SCTP is encapsulated in UDP (RFC 6951), else empty. */
    OptionalInt udpPort();

    /** Stops listening. Accepted connections stay open, and requests without an answer are rejected. */
    CompletableFuture<Void> close();
}
