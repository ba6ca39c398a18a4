// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpAssociationHandler;
import io.sidewarp.engine.net.sctp.SctpConnectException;
import io.sidewarp.engine.net.sctp.SctpCounters;
import io.sidewarp.engine.net.sctp.SctpDestination;
import io.sidewarp.engine.net.sctp.SctpEndpoint;
import io.sidewarp.engine.net.sctp.SctpListener;
import io.sidewarp.engine.net.sctp.SctpSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Local addresses at which the kernel's SCTP is used. Each listener and each association has a socket that is bound to
 * all of them.
 */
final class KernelEndpoint implements SctpEndpoint {

    /** Value without encapsulation. The kernel encapsulates in UDP by itself if it is configured to. */
    static final int NO_UDP_PORT = 0;

    private static final int LOOK_SECONDS = 1;

    private final EngineLoops loops;
    private final EventLoop loop;
    private final List<InetAddress> local;
    private final OptionalInt adaptation;
    private final SctpSettings settings;
    private final SocketArea area;
    private final EventPoller poller;
    private final WireBuffer messages;
    private final Set<KernelListener> listeners = new HashSet<>();
    private final Set<KernelAssociation> associations = new HashSet<>();
    private final LongAdder refused = new LongAdder();
    private @Nullable ScheduledFuture<?> looking;
    private int outgoing;
    private boolean closed;

    private KernelEndpoint(
            EngineLoops loops,
            EventLoop loop,
            List<InetAddress> local,
            OptionalInt adaptation,
            SctpSettings settings,
            SocketArea area) {
        this.loops = loops;
        this.loop = loop;
        this.local = List.copyOf(local);
        this.adaptation = adaptation;
        this.settings = settings;
        this.area = area;
        this.messages = WireBuffer.allocate(settings.largestMessage());
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

    EngineLoops loops() {
        return loops;
    }

    SctpSettings settings() {
        return settings;
    }

    SocketArea area() {
        return area;
    }

    EventPoller poller() {
        return poller;
    }

    /** Returns the buffer of received messages. Each message is consumed before the next is received. */
    WireBuffer messages() {
        return messages;
    }

    @Override
    public EventLoop loop() {
        return loop;
    }

    @Override
    public List<InetAddress> localAddresses() {
        return local;
    }

    @Override
    public int udpPort() {
        return NO_UDP_PORT;
    }

    /** {@inheritDoc} Contains only counters that the kernel does not have: see /proc/net/sctp/snmp for packets. */
    @Override
    public SctpCounters counters() {
        return new SctpCounters(0, 0, 0, 0, 0, 0, 0, 0, refused.sum(), 0);
    }

    // Listening and connecting.

    @Override
    public CompletableFuture<SctpListener> listen(int port, SctpAssociationHandler handler) {
        CompletableFuture<SctpListener> result = new CompletableFuture<>();
        onLoop(result, () -> {
            KernelSocket socket = KernelSocket.open(area, local, port, adaptation, settings);
            try {
                socket.listen(settings.maxHalfOpen());
                KernelListener listener = new KernelListener(this, socket, handler);
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
            if (outgoing >= settings.maxAssociations()) {
                throw SctpConnectException.tooMany(settings.maxAssociations());
            }
            KernelSocket socket = KernelSocket.open(area, local, 0, adaptation, settings);
            InetSocketAddress remote =
                    new InetSocketAddress(destination.addresses().getFirst(), destination.port());
            KernelAssociation association = add(socket, remote, handler, result);
            try {
                association.connect(destination, timeout);
            } catch (IOException | RuntimeException | Error e) {
                result.completeExceptionally(e);
                association.end(String.valueOf(e.getMessage()));
            }
        });
        return result;
    }

    private void requireFamilies(List<InetAddress> remote) {
        for (InetAddress address : remote) {
            if (local.stream().noneMatch(own -> own.getClass() == address.getClass())) {
                throw new IllegalArgumentException("no local address is of the family of " + address.getHostAddress()
                        + ": there are only " + local);
            }
        }
    }

    private KernelAssociation add(
            KernelSocket socket,
            InetSocketAddress remote,
            SctpAssociationHandler handler,
            @Nullable CompletableFuture<SctpAssociation> connected) {
        KernelAssociation association;
        try {
            association = new KernelAssociation(this, socket, remote, handler, connected);
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
        try {
            if (looking == null) {
                looking = loop.scheduleWithFixedDelay(this::look, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
            }
            associations.add(association);
        } catch (RuntimeException | Error e) {
            association.end("this side failed: " + e);
            throw e;
        }
        if (connected != null) {
            outgoing++;
        }
        return association;
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
        add(socket, remote, handler, null).accept(inboundStreams, outboundStreams);
    }

    private void look() {
        for (KernelAssociation association : new ArrayList<>(associations)) {
            association.look();
        }
    }

    /** Steps that may fail. */
    private interface Work {
        void run() throws IOException;
    }

    private void onLoop(CompletableFuture<?> result, Work work) {
        loop.execute(() -> {
            try {
                if (closed) {
                    throw new IllegalStateException("the endpoint is closed");
                }
                if (!result.isCancelled()) {
                    work.run();
                }
            } catch (IOException | RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
    }

    /** Returns whether peers have as many associations as they may. */
    boolean isFull() {
        return associations.size() - outgoing >= settings.maxAssociations();
    }

    void onRefused() {
        refused.increment();
    }

    void remove(KernelAssociation association) {
        if (associations.remove(association) && association.isOutgoing()) {
            outgoing--;
        }
        if (associations.isEmpty() && looking != null) {
            looking.cancel(false);
            looking = null;
        }
    }

    void remove(KernelListener listener) {
        listeners.remove(listener);
    }

    @Override
    public CompletableFuture<Void> close() {
        CompletableFuture<Void> result = new CompletableFuture<>();
        loop.execute(() -> {
            if (closed) {
                result.complete(null);
                return;
            }
            closed = true;
            new ArrayList<>(listeners).forEach(KernelListener::closeNow);
            new ArrayList<>(associations).forEach(association -> association.end("the endpoint was closed"));
            poller.end()
                    .whenCompleteAsync(
                            (ignored, failure) -> {
                                area.close();
                                result.complete(null);
                            },
                            loop);
        });
        return result;
    }
}
