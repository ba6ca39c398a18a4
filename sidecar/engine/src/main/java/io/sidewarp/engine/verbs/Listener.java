// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;

/** A bound address at which peers can connect. */
public interface Listener {

    InetSocketAddress localAddress();

    /** The local UDP port where SCTP is encapsulated in UDP (RFC 6951), or empty. */
    OptionalInt udpPort();

    /** Stops listening. Connections that were accepted live on, requests without an answer are rejected. */
    CompletableFuture<Void> close();
}
