// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.net.sctp.MessageSocket;
import io.sidewarp.engine.net.sctp.SctpAssociationHandler;
import io.sidewarp.engine.net.sctp.SctpCounter;
import io.sidewarp.engine.net.sctp.SctpListener;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listener at an SCTP port of a {@link KernelEndpoint}. Associations that peers begin there get their own sockets at
 * once.
 */
final class KernelSctpListener implements SctpListener, MessageSocket.Receiver {

    private static final Logger LOG = LoggerFactory.getLogger(KernelSctpListener.class);

    /** Events that are taken before other sockets get their turn. */
    private static final int BATCH = 64;

    private final KernelEndpoint endpoint;
    private final KernelSocket socket;
    private final SctpAssociationHandler handler;
    private final int port;
    private final int key;
    private boolean closed;

    KernelSctpListener(KernelEndpoint endpoint, KernelSocket socket, SctpAssociationHandler handler) {
        this.endpoint = endpoint;
        this.socket = socket;
        this.handler = handler;
        this.port = socket.port();
        this.key = endpoint.poller().add(socket.descriptor(), ignored -> onReady());
    }

    private void onReady() {
        for (int i = 0; i < BATCH; i++) {
            if (closed || !socket.receive(endpoint.messages(), this)) {
                return;
            }
        }
        endpoint.loop().execute(this::onReady);
    }

    /**
     * Handles a new association. A failure with one association must not leave the others unread, because epoll does
     * not report them again.
     */
    @Override
    public void onUp(int inboundStreams, int outboundStreams) {
        try {
            take(inboundStreams, outboundStreams);
        } catch (RuntimeException | Error e) {
            endpoint.loops().onFault(e);
        }
    }

    private void take(int inboundStreams, int outboundStreams) {
        if (endpoint.isFull()) {
            endpoint.increment(SctpCounter.REFUSED);
            InetSocketAddress remote = socket.primary();
            if (remote != null) {
                handler.onRefused(remote);
            }
            socket.abort("this side has reached its limit of associations");
            return;
        }
        try {
            KernelSocket peeled = socket.peelOff(socket.association());
            endpoint.adopt(peeled, handler, inboundStreams, outboundStreams);
        } catch (IOException e) {
            // The association may be over already. If not, the peer is told.
            LOG.debug("cannot take an association of a peer", e);
            socket.abort("this side has no room for the association");
        }
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public CompletableFuture<Void> close() {
        return CompletableFuture.runAsync(this::closeNow, endpoint.loop());
    }

    /** Closes the listener. Call this on the loop. */
    void closeNow() {
        if (!closed) {
            closed = true;
            endpoint.remove(this);
            endpoint.poller().remove(key, socket.descriptor());
            socket.close();
        }
    }
}
