// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.net.TcpAcceptor;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.VerbsListener;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Listens on TCP, and limits the connections in start-up. They have not sent a complete Request, or have failed and
 * wait for the peer to close its side. At the limit, a new connection takes the place of an old one, from the address
 * that holds most places.
 */
final class SoftwareTcpListener extends SoftwareListener {

    private static final String STARTING = "connections in start-up";

    /** Connections that are open and not in RDMA mode, the oldest first. */
    private final Map<TcpTransport, IncomingTcpSetup> starting = new LinkedHashMap<>();

    private volatile @Nullable TcpAcceptor acceptor;

    SoftwareTcpListener(
            SoftwareDevice device, EventLoop loop, ListenAttributes attributes, ConnectionRequestHandler handler) {
        super(device, loop, attributes, handler);
    }

    @Override
    protected CompletableFuture<VerbsListener> listen(InetSocketAddress address) {
        return TcpAcceptor.listen(device().loops(), loop(), address, this::onAccepted)
                .thenApply(bound -> {
                    acceptor = bound;
                    return this;
                });
    }

    private void onAccepted(TcpTransport transport) {
        // Requests that wait for an answer have their own limit.
        if (starting.size() - waiting() >= attributes().startupConnections() && !makeRoomFor(transport)) {
            device().events().onRefused(transport.remoteAddress(), STARTING);
            transport.abort();
            return;
        }
        IncomingTcpSetup setup = new IncomingTcpSetup(device(), this, transport);
        starting.put(transport, setup);
        transport.onClosed(() -> starting.remove(transport));
        onStarting(setup);
        setup.start();
    }

    /**
     * Ends the oldest connection of the address that holds most places. If the new connection has that address, too,
     * only a connection without a complete Request is ended. A rejected connection then keeps its place until it is
     * closed.
     */
    private boolean makeRoomFor(TcpTransport transport) {
        Map<InetAddress, Integer> places = new HashMap<>();
        for (IncomingTcpSetup setup : starting.values()) {
            if (setup.waitsForRequest() || setup.cameToNothing()) {
                places.merge(address(setup), 1, Integer::sum);
            }
        }
        int most = places.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        InetAddress newcomer = transport.remoteAddress().getAddress();
        Predicate<IncomingTcpSetup> mayGo = places.getOrDefault(newcomer, 0) == most
                ? setup -> setup.waitsForRequest() && address(setup).equals(newcomer)
                : setup -> (setup.waitsForRequest() || setup.cameToNothing())
                        && places.getOrDefault(address(setup), 0) == most;
        Optional<TcpTransport> oldest = starting.entrySet().stream()
                .filter(entry -> mayGo.test(entry.getValue()))
                .map(Map.Entry::getKey)
                .findFirst();
        oldest.map(starting::remove).ifPresent(setup -> {
            device().events().onRefused(setup.remoteAddress(), STARTING);
            setup.giveWay();
        });
        return oldest.isPresent();
    }

    private static InetAddress address(IncomingTcpSetup setup) {
        return setup.remoteAddress().getAddress();
    }

    /** Removes a connection that is in RDMA mode now. */
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
    protected CompletableFuture<Void> unbind() {
        TcpAcceptor bound = acceptor;
        return bound == null ? CompletableFuture.completedFuture(null) : bound.close();
    }
}
