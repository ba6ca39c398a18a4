// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.util.concurrent.CompletableFuture;

/** A listener at an SCTP port of a {@link UdpEndpoint}. */
final class UdpListener implements SctpListener {

    private final UdpEndpoint endpoint;
    private final int port;
    private final SctpAssociationHandler handler;

    UdpListener(UdpEndpoint endpoint, int port, SctpAssociationHandler handler) {
        this.endpoint = endpoint;
        this.port = port;
        this.handler = handler;
    }

    SctpAssociationHandler handler() {
        return handler;
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public CompletableFuture<Void> close() {
        return CompletableFuture.runAsync(() -> endpoint.remove(this), endpoint.loop());
    }
}
