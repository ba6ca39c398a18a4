// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.mpa.MpaPolicy;
import io.sidewarp.engine.net.TcpAcceptor;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Listener;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Listens on TCP, and bounds what strangers can make it hold: connections that have not sent a complete Request, and
 * requests that the application has not answered. Lives on one event loop, which owns its connections too.
 */
final class SoftwareListener implements Listener {

    private final SoftwareDevice device;
    private final EventLoop loop;
    private final ListenAttributes attributes;
    private final ConnectionRequestHandler handler;
    private final Set<IncomingSetup> setups = new HashSet<>();
    private int starting;
    private int waiting;
    private volatile @Nullable TcpAcceptor acceptor;

    SoftwareListener(
            SoftwareDevice device, EventLoop loop, ListenAttributes attributes, ConnectionRequestHandler handler) {
        this.device = device;
        this.loop = loop;
        this.attributes = attributes;
        this.handler = handler;
    }

    CompletableFuture<Listener> listen(InetSocketAddress address) {
        return TcpAcceptor.listen(device.loops(), loop, address, this::onAccepted)
                .thenApply(bound -> {
                    acceptor = bound;
                    return this;
                });
    }

    MpaPolicy mpa() {
        return attributes.mpa();
    }

    Duration startupTimeout() {
        return attributes.startupTimeout();
    }

    private void onAccepted(TcpTransport transport) {
        if (starting >= attributes.startupConnections()) {
            device.events().onRefused(transport.remoteAddress(), "connections in start-up");
            transport.abort();
            return;
        }
        IncomingSetup setup = new IncomingSetup(device, this, transport);
        starting++;
        setups.add(setup);
        setup.start();
    }

    /** A complete Request arrived; false when too many wait for an answer. */
    boolean onRequest(IncomingSetup setup) {
        starting--;
        if (waiting >= attributes.backlog()) {
            setups.remove(setup);
            device.events().onRefused(setup.remoteAddress(), "connection requests that wait for an answer");
            return false;
        }
        waiting++;
        return true;
    }

    void deliver(IncomingSetup setup) {
        handler.onConnectionRequest(setup);
    }

    /** A request was answered or has lapsed. */
    void onAnswered() {
        waiting--;
        setups.removeIf(IncomingSetup::isOver);
    }

    void onFailedBeforeRequest(InetSocketAddress remote, String message) {
        starting--;
        setups.removeIf(IncomingSetup::isOver);
        device.events().onStartupFailed(remote, message);
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
    public CompletableFuture<Void> close() {
        device.onClosed(this);
        TcpAcceptor bound = acceptor;
        CompletableFuture<Void> unbound = bound == null ? CompletableFuture.completedFuture(null) : bound.close();
        return unbound.thenRunAsync(
                () -> {
                    for (IncomingSetup setup : new ArrayList<>(setups)) {
                        setup.withdraw();
                    }
                    setups.clear();
                },
                loop);
    }
}
