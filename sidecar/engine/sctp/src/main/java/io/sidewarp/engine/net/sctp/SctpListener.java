// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.util.concurrent.CompletableFuture;

/** Listens for associations at one SCTP port of an endpoint. */
public interface SctpListener {

    /** Returns the SCTP port. */
    int port();

    /** Stops accepting associations. Existing associations stay. */
    CompletableFuture<Void> close();
}
