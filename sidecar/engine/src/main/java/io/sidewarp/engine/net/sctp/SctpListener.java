// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.util.concurrent.CompletableFuture;

/** Takes associations at one SCTP port of an endpoint. */
public interface SctpListener {

    /** The SCTP port. */
    int port();

    /** Takes no more associations; those that are up stay. */
    CompletableFuture<Void> close();
}
