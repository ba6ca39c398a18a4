// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.concurrent.CompletableFuture;

/** A listening iWARP endpoint. Closing it ends the listening; accepted connections continue. */
public interface Listener extends AutoCloseable {

    /** Returns the address that the sidecar listens on. */
    String address();

    /** Returns the port that the sidecar listens on. The sidecar chooses the port if 0 was requested. */
    int port();

    /** Returns the UDP port that peers connect to where SCTP is encapsulated in UDP; 0 on TCP. */
    int udpPort();

    /**
     * Returns a future that completes when the listener is closed, and fails when the listener ends for another reason.
     */
    CompletableFuture<Void> closed();

    @Override
    void close();
}
