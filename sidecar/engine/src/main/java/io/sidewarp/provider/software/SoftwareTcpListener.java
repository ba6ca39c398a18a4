// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.net.TcpAcceptor;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Listener;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Listens on TCP, and bounds the connections that have not sent a complete Request, or that came to nothing and wait for the
 * peer to close its side.
 */
final class SoftwareTcpListener extends SoftwareListener {

    /** Open, and not in RDMA mode. */
    private final Set<TcpTransport> starting = new HashSet<>();

    private volatile @Nullable TcpAcceptor acceptor;

    SoftwareTcpListener(
            SoftwareDevice device, EventLoop loop, ListenAttributes attributes, ConnectionRequestHandler handler) {
        super(device, loop, attributes, handler);
    }

    @Override
    CompletableFuture<Listener> listen(InetSocketAddress address) {
        return TcpAcceptor.listen(device().loops(), loop(), address, this::onAccepted)
                .thenApply(bound -> {
                    acceptor = bound;
                    return this;
                });
    }

    private void onAccepted(TcpTransport transport) {
        // Requests that wait have their own limit.
        if (starting.size() - waiting() >= attributes().startupConnections()) {
            device().events().onRefused(transport.remoteAddress(), "connections in start-up");
            transport.abort();
            return;
        }
        IncomingTcpSetup setup = new IncomingTcpSetup(device(), this, transport);
        starting.add(transport);
        transport.onClosed(() -> starting.remove(transport));
        onStarting(setup);
        setup.start();
    }

    /** RDMA mode has begun. */
    void onEstablished(TcpTransport transport) {
        starting.remove(transport);
    }

    @Override
    public InetSocketAddress localAddress() {
        TcpAcceptor bound = acceptor;
        if (bound == null) {
            throw new IllegalStateException("not bound");
        }
        return bound.localAddress();
    }

    @Override
    public OptionalInt udpPort() {
        return OptionalInt.empty();
    }

    @Override
    CompletableFuture<Void> unbind() {
        TcpAcceptor bound = acceptor;
        return bound == null ? CompletableFuture.completedFuture(null) : bound.close();
    }
}
