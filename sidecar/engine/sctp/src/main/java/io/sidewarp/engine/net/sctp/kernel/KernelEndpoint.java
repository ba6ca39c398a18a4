// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpAssociationHandler;
import io.sidewarp.engine.net.sctp.SctpDestination;
import io.sidewarp.engine.net.sctp.SctpEndpoint;
import io.sidewarp.engine.net.sctp.SctpListener;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.StackEndpoint;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Local addresses at which the kernel's SCTP is used. Each listener and each association has a socket that is bound to
 * all of them. Only refused associations are counted: see /proc/net/sctp/snmp for packets.
 */
final class KernelEndpoint extends StackEndpoint<KernelAssociation> {

    /** Value without encapsulation. The kernel encapsulates in UDP by itself if it is configured to. */
    static final int NO_UDP_PORT = 0;

    private static final int LOOK_SECONDS = 1;

    private final SocketArea area;
    private final EventPoller poller;
    private final Set<KernelSctpListener> listeners = new HashSet<>();

    private KernelEndpoint(
            EngineLoops loops,
            EventLoop loop,
            List<InetAddress> local,
            OptionalInt adaptation,
            SctpSettings settings,
            SocketArea area) {
        super(loops, loop, local, adaptation, settings, Duration.ofSeconds(LOOK_SECONDS));
        this.area = area;
        this.poller = new EventPoller(
                loop, loops::onFault, "sidewarp-sctp-" + local.getFirst().getHostAddress());
    }

    static CompletableFuture<SctpEndpoint> open(
            EngineLoops loops, EventLoop loop, List<InetAddress> local, OptionalInt adaptation, SctpSettings settings) {
        CompletableFuture<SctpEndpoint> result = new CompletableFuture<>();
        loop.execute(() -> {
            SocketArea area;
            try {
                area = new SocketArea();
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
                return;
            }
            try {
                // A test socket shows whether the addresses and the settings are valid.
                KernelSocket.open(area, local, 0, adaptation, settings).close();
                result.complete(new KernelEndpoint(loops, loop, local, adaptation, settings, area));
            } catch (IOException | RuntimeException | Error e) {
                area.close();
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    SocketArea area() {
        return area;
    }

    EventPoller poller() {
        return poller;
    }

    @Override
    public int udpPort() {
        return NO_UDP_PORT;
    }

    // Listening and connecting.

    @Override
    public CompletableFuture<SctpListener> listen(int port, SctpAssociationHandler handler) {
        CompletableFuture<SctpListener> result = new CompletableFuture<>();
        onLoop(result, () -> {
            KernelSocket socket = open(port);
            try {
                socket.listen(settings().maxHalfOpen());
                KernelSctpListener listener = new KernelSctpListener(this, socket, handler);
                listeners.add(listener);
                result.complete(listener);
            } catch (RuntimeException | Error e) {
                socket.close();
                throw e;
            }
        });
        return result;
    }

    @Override
    public CompletableFuture<SctpAssociation> connect(
            SctpDestination destination, Duration timeout, SctpAssociationHandler handler) {
        CompletableFuture<SctpAssociation> result = new CompletableFuture<>();
        onLoop(result, () -> {
            requireFamilies(destination.addresses());
            requireRoom();
            InetSocketAddress remote =
                    new InetSocketAddress(destination.addresses().getFirst(), destination.port());
            KernelAssociation association = newAssociation(open(0), remote, handler, result);
            begin(association, () -> association.connect(destination, timeout, result));
        });
        return result;
    }

    private KernelSocket open(int port) throws IOException {
        return KernelSocket.open(area, localAddresses(), port, adaptation(), settings());
    }

    private void requireFamilies(List<InetAddress> remote) {
        for (InetAddress address : remote) {
            if (localAddresses().stream().noneMatch(own -> own.getClass() == address.getClass())) {
                throw new IllegalArgumentException("no local address is of the family of " + address.getHostAddress()
                        + ": there are only " + localAddresses());
            }
        }
    }

    private KernelAssociation newAssociation(
            KernelSocket socket,
            InetSocketAddress remote,
            SctpAssociationHandler handler,
            @Nullable CompletableFuture<SctpAssociation> connected) {
        try {
            return new KernelAssociation(this, socket, remote, handler, connected);
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Adopts an association of a peer that is up, with its own socket. The socket is closed with the association.
     *
     * @throws IOException when the association is over already
     */
    void adopt(KernelSocket socket, SctpAssociationHandler handler, int inboundStreams, int outboundStreams)
            throws IOException {
        InetSocketAddress remote = socket.primary();
        if (remote == null) {
            socket.close();
            throw new IOException("the association ended as soon as it was up");
        }
        KernelAssociation association = newAssociation(socket, remote, handler, null);
        begin(association, () -> association.accept(inboundStreams, outboundStreams));
    }

    /** Returns whether peers have as many associations as they may. */
    boolean isFull() {
        return incoming() >= settings().maxAssociations();
    }

    void remove(KernelSctpListener listener) {
        listeners.remove(listener);
    }

    @Override
    protected void tick() {
        List.copyOf(associations()).forEach(KernelAssociation::look);
    }

    @Override
    protected void closeListeners() {
        List.copyOf(listeners).forEach(KernelSctpListener::closeNow);
    }

    @Override
    protected CompletableFuture<Void> release() {
        return poller.end().thenRunAsync(area::close, loop());
    }
}
