// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.concurrent.CompletableFuture;

/** A listening iWARP endpoint. Closing it ends the listening; connections that were accepted live on. */
public interface Listener extends AutoCloseable {

    /** The address that the sidecar listens on. */
    String address();

    /** The port that the sidecar listens on, chosen by it when 0 was asked for. */
    int port();

    /** The UDP port that peers connect to where SCTP is encapsulated in UDP; 0 on TCP. */
    int udpPort();

    /** Completes when the listener is closed, and fails when it ended otherwise. */
    CompletableFuture<Void> closed();

    @Override
    void close();
}
