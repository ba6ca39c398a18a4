// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.StagingBuffer;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An endpoint behind one UDP socket. It finds the association of each packet by the Verification Tag. This also works
 * when the peer's UDP port has changed (RFC 6951 section 5.4). It limits the state that strangers can make it hold.
 */
final class UdpEndpoint implements SctpEndpoint, UdpChannel.Receiver {

    private static final Logger LOG = LoggerFactory.getLogger(UdpEndpoint.class);

    private static final int FIRST_EPHEMERAL_PORT = 49152;
    private static final int EPHEMERAL_PORTS = 16384;
    /**
     * Number of ticks between two checks of the associations: for changes by timers, and for expired half-open
     * associations.
     */
    private static final int TICKS_PER_ROUND = 10;

    private final SctpProtocol protocol;
    private final EngineLoops loops;
    private final EventLoop loop;
    private final InetAddress local;
    private final OptionalInt adaptation;
    private SctpSettings settings;
    private final int packetSize;
    private final UdpCounters counters = new UdpCounters();
    private final PacketChecksum checksum = new PacketChecksum();
    private final UdpPort udp;
    private final WireBuffer messages;
    private final IntObjectMap<UdpAssociation> tags = new IntObjectHashMap<>();
    /**
     * Associations that can be found without a tag. NATs may give several associations the same key; the key then leads
     * to the last one that moved there.
     */
    private final Map<PeerKey, UdpAssociation> peers = new HashMap<>();

    private final LinkedHashSet<UdpAssociation> associations = new LinkedHashSet<>();
    private final HalfOpenAssociations halfOpen;
    private final Map<Integer, UdpListener> listeners = new HashMap<>();
    private final ArrayList<UdpAssociation> batch = new ArrayList<>();
    private int nextPort = ThreadLocalRandom.current().nextInt(EPHEMERAL_PORTS);
    private boolean closed;
    private int outgoing;
    private int ticks;
    private @Nullable ScheduledFuture<?> ticking;

    private UdpEndpoint(
            SctpProtocol protocol,
            EngineLoops loops,
            EventLoop loop,
            InetAddress local,
            OptionalInt adaptation,
            SctpSettings settings) {
        this.protocol = protocol;
        this.loops = loops;
        this.loop = loop;
        this.local = local;
        this.adaptation = adaptation;
        this.settings = settings;
        this.packetSize = PathMtu.packetSize(local, settings.maxPathMtu());
        this.udp = new UdpPort(loops, loop, local, settings, packetSize, this, counters, checksum);
        this.messages = WireBuffer.allocate(settings.largestMessage());
        this.halfOpen = new HalfOpenAssociations(settings.maxHalfOpen());
    }

    static CompletableFuture<UdpEndpoint> open(
            SctpProtocol protocol,
            EngineLoops loops,
            EventLoop loop,
            InetAddress local,
            OptionalInt adaptation,
            SctpSettings settings) {
        UdpEndpoint endpoint = new UdpEndpoint(protocol, loops, loop, local, adaptation, settings);
        return endpoint.udp.open().thenApply(ignored -> {
            endpoint.fitReceiveBuffer(endpoint.channel().receiveBuffer());
            return endpoint;
        });
    }

    /**
     * Limits the receive buffer of associations to the buffer of the UDP socket. Data that peers send before it is
     * acknowledged must fit into the UDP socket, or is lost there. Where the system grants less than the minimum of an
     * association, such data is lost and SCTP repairs the loss.
     */
    private void fitReceiveBuffer(int granted) {
        int fitting = Math.max(granted, Math.max(2 * packetSize, SctpSettings.MIN_RECEIVE_BUFFER));
        if (fitting < settings.receiveBuffer()) {
            settings = settings.toBuilder().receiveBuffer(fitting).build();
            LOG.info(
                    "SCTP associations of {} have receive buffers of {} bytes, because the system grants no more to"
                            + " the UDP socket; raise net.core.rmem_max to {} for more",
                    local.getHostAddress(),
                    fitting,
                    settings.udpBuffer());
        }
    }

    UdpChannel channel() {
        return udp.channel();
    }

    SctpProtocol protocol() {
        return protocol;
    }

    EngineLoops loops() {
        return loops;
    }

    OptionalInt adaptation() {
        return adaptation;
    }

    SctpSettings settings() {
        return settings;
    }

    int packetSize() {
        return packetSize;
    }

    UdpCounters count() {
        return counters;
    }

    /** Returns the output for packets of associations. */
    PacketBundler output() {
        return udp.output();
    }

    /** Sends the waiting packets. */
    void flush() {
        output().flush();
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
        return List.of(local);
    }

    @Override
    public int udpPort() {
        return channel().localAddress().getPort();
    }

    @Override
    public SctpCounters counters() {
        return counters.snapshot();
    }

    // Listening and connecting.

    @Override
    public CompletableFuture<SctpListener> listen(int port, SctpAssociationHandler handler) {
        CompletableFuture<SctpListener> result = new CompletableFuture<>();
        onLoop(
                result,
                () -> udp.settle().whenComplete((ignored, failure) -> {
                    if (failure == null) {
                        onLoop(result, () -> result.complete(newListener(port, handler)));
                    } else {
                        result.completeExceptionally(failure);
                    }
                }));
        return result;
    }

    private UdpListener newListener(int port, SctpAssociationHandler handler) throws BindException {
        int chosen = port == 0 ? freeListeningPort() : port;
        UdpListener listener = new UdpListener(this, chosen, handler);
        if (listeners.putIfAbsent(chosen, listener) != null) {
            throw new BindException("SCTP port " + chosen + " of " + local.getHostAddress() + " is in use");
        }
        return listener;
    }

    void remove(UdpListener listener) {
        listeners.remove(listener.port(), listener);
    }

    @Override
    public CompletableFuture<SctpAssociation> connect(
            SctpDestination destination, Duration timeout, SctpAssociationHandler handler) {
        CompletableFuture<SctpAssociation> result = new CompletableFuture<>();
        InetAddress remote = destination.addresses().getFirst();
        if (destination.addresses().size() != 1 || remote.getClass() != local.getClass()) {
            result.completeExceptionally(new IllegalArgumentException("SCTP in UDP takes one address of the family of "
                    + local.getHostAddress() + ", not " + destination.addresses()));
            return result;
        }
        if (destination.udpPort() == 0) {
            result.completeExceptionally(new IllegalArgumentException("SCTP in UDP needs the peer's UDP port"));
            return result;
        }
        onLoop(result, () -> {
            if (outgoing >= settings.maxAssociations()) {
                throw SctpConnectException.tooMany(settings.maxAssociations());
            }
            PeerKey key = freeKey(remote, destination);
            UdpAssociation association = UdpAssociation.outgoing(this, key, handler, result);
            begin(association, () -> association.connect(timeout));
            flush();
        });
        return result;
    }

    /** Steps that may fail. */
    private interface Work {
        void run() throws Exception;
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
            } catch (Exception | Error e) {
                // For example, memory may be short.
                result.completeExceptionally(e);
            }
        });
    }

    private int nextEphemeralPort() {
        nextPort = (nextPort + 1) % EPHEMERAL_PORTS;
        return FIRST_EPHEMERAL_PORT + nextPort;
    }

    private int freeListeningPort() throws BindException {
        for (int i = 0; i < EPHEMERAL_PORTS; i++) {
            int port = nextEphemeralPort();
            if (!listeners.containsKey(port) && peers.keySet().stream().noneMatch(key -> key.localPort() == port)) {
                return port;
            }
        }
        throw new BindException("no SCTP port of " + local.getHostAddress() + " is free");
    }

    private PeerKey freeKey(InetAddress remote, SctpDestination destination) throws SctpConnectException {
        for (int i = 0; i < EPHEMERAL_PORTS; i++) {
            int port = nextEphemeralPort();
            PeerKey key = new PeerKey(remote, destination.udpPort(), destination.port(), port);
            if (!listeners.containsKey(port) && !peers.containsKey(key)) {
                return key;
            }
        }
        throw new SctpConnectException(SctpConnectException.Reason.LIMIT, "no local SCTP port is free");
    }

    // Associations.

    /** Begins an association and ends it when this fails. Otherwise it would count towards the limits for ever. */
    private void begin(UdpAssociation association, Runnable work) {
        try {
            add(association);
            work.run();
        } catch (RuntimeException | Error e) {
            association.endNow("this side failed: " + e);
            throw e;
        }
    }

    private void add(UdpAssociation association) {
        associations.add(association);
        if (!association.isIncoming()) {
            outgoing++;
        }
        peers.put(association.key(), association);
        if (ticking == null) {
            ticking = loop.scheduleWithFixedDelay(
                    this::tick, SctpProtocol.TICK_MILLIS, SctpProtocol.TICK_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Returns the number of associations of peers that {@link SctpSettings#maxAssociations} limits. */
    private int incoming() {
        return associations.size() - halfOpen.size() - outgoing;
    }

    /** Adds a tag that packets to the association bear from now on. */
    void addTag(int tag, UdpAssociation association) {
        tags.put(tag, association);
    }

    void removeTag(int tag, UdpAssociation association) {
        if (tags.get(tag) == association) {
            tags.remove(tag);
        }
    }

    /** Notes that the peer returned the cookie. Returns false when the limit of associations is exceeded. */
    boolean onUp(UdpAssociation association) {
        halfOpen.remove(association);
        if (incoming() > settings.maxAssociations()) {
            counters.refused.increment();
            association.handler().onRefused(association.remoteAddress());
            return false;
        }
        return true;
    }

    /** Removes an association that is over. */
    void remove(UdpAssociation association) {
        if (associations.remove(association) && !association.isIncoming()) {
            outgoing--;
        }
        peers.remove(association.key(), association);
        halfOpen.remove(association);
        if (associations.isEmpty() && ticking != null) {
            ticking.cancel(false);
            ticking = null;
        }
    }

    // Input.

    @Override
    public void onDatagram(WireBuffer packet, int length, InetSocketAddress sender) {
        counters.receivedPackets.increment();
        if (length < SctpPacketFlyweight.COMMON_HEADER_LENGTH + SctpPacketFlyweight.CHUNK_HEADER_LENGTH) {
            counters.malformed.increment();
            return;
        }
        if (!checksum.verify(packet, length)) {
            counters.badChecksum.increment();
            return;
        }
        InetAddress address = sender.getAddress();
        int udpPort = sender.getPort();
        UdpAssociation association = tags.get(SctpPacketFlyweight.verificationTag(packet));
        boolean verified = association != null && association.isWith(address, packet);
        if (association == null || !verified) {
            association = peers.get(new PeerKey(
                    address,
                    udpPort,
                    SctpPacketFlyweight.sourcePort(packet),
                    SctpPacketFlyweight.destinationPort(packet)));
        } else if (association.remoteUdpPort() != udpPort) {
            move(association, udpPort);
        }
        if (association == null) {
            association = onStranger(packet, length, sender);
        }
        if (association != null) {
            if (association.touch()) {
                batch.add(association);
            }
            association.input(packet, length, verified);
        }
    }

    private void move(UdpAssociation association, int udpPort) {
        counters.portMoves.increment();
        LOG.debug("the peer {} continues from UDP port {}", association.remoteAddress(), udpPort);
        peers.remove(association.key(), association);
        association.onMoved(udpPort);
        peers.put(association.key(), association);
    }

    /** Handles a packet that belongs to no association. It may be the first packet of a new one. */
    private @Nullable UdpAssociation onStranger(WireBuffer packet, int length, InetSocketAddress sender) {
        UdpListener listener = listeners.get(SctpPacketFlyweight.destinationPort(packet));
        boolean full = false;
        if (listener != null && OutOfTheBlue.isInit(packet, length)) {
            if (incoming() < settings.maxAssociations()) {
                return admit(listener, packet, sender);
            }
            full = true;
            counters.refused.increment();
            listener.handler()
                    .onRefused(new InetSocketAddress(sender.getAddress(), SctpPacketFlyweight.sourcePort(packet)));
        } else {
            counters.outOfTheBlue.increment();
        }
        int answerLength = full ? OutOfTheBlue.REFUSAL_LENGTH : OutOfTheBlue.ANSWER_LENGTH;
        StagingBuffer answer = channel().acquire(answerLength);
        if (answer == null) {
            counters.outputDropped.increment();
        } else if (OutOfTheBlue.answer(packet, length, answer.wire())) {
            if (full) {
                OutOfTheBlue.addOutOfResource(answer.wire());
            }
            checksum.fill(answer.wire(), answerLength);
            channel().write(answer, answerLength, sender);
            counters.sentPackets.increment();
        } else {
            channel().release(answer);
        }
        return null;
    }

    private UdpAssociation admit(UdpListener listener, WireBuffer packet, InetSocketAddress sender) {
        UdpAssociation inTheWay = halfOpen.inTheWayOf(sender.getAddress());
        if (inTheWay != null) {
            counters.halfOpenEvicted.increment();
            inTheWay.forget();
        }
        PeerKey key = new PeerKey(
                sender.getAddress(), sender.getPort(), SctpPacketFlyweight.sourcePort(packet), listener.port());
        UdpAssociation association = UdpAssociation.incoming(this, key, listener.handler());
        begin(association, () -> {
            halfOpen.add(association);
            association.listen();
        });
        return association;
    }

    @Override
    public void onBatchDone() {
        // An association that is touched during this loop is appended to the list.
        for (int i = 0; i < batch.size(); i++) {
            batch.get(i).inputDone();
        }
        batch.clear();
        flush();
    }

    // Time.

    private void tick() {
        try {
            protocol.tick();
            if (++ticks % TICKS_PER_ROUND == 0) {
                expireHalfOpen();
                for (UdpAssociation association : new ArrayList<>(associations)) {
                    association.look();
                }
            }
            flush();
        } catch (RuntimeException | Error e) {
            loops.onFault(e);
        }
    }

    private void expireHalfOpen() {
        long limit = System.nanoTime() - settings.halfOpenTimeout().toNanos();
        UdpAssociation oldest = halfOpen.oldest();
        while (oldest != null && oldest.createdNanos() - limit < 0) {
            counters.halfOpenExpired.increment();
            oldest.forget();
            oldest = halfOpen.oldest();
        }
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
            listeners.clear();
            for (UdpAssociation association : new ArrayList<>(associations)) {
                association.endNow("the endpoint was closed");
            }
            flush();
            udp.close().thenRun(() -> result.complete(null));
        });
        return result;
    }
}
