// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.StagingBuffer;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An endpoint behind one UDP socket. It finds the association of each packet by the Verification Tag. This also works
 * when the peer's UDP port has changed (RFC 6951 section 5.4). It limits the state that strangers can make it hold.
 */
final class UdpEndpoint extends StackEndpoint<UdpAssociation> implements UdpChannel.Receiver {

    private static final Logger LOG = LoggerFactory.getLogger(UdpEndpoint.class);

    private static final int FIRST_EPHEMERAL_PORT = 49152;
    private static final int EPHEMERAL_PORTS = 16384;
    /**
     * Number of ticks between two checks of the associations: for changes by timers, and for expired half-open
     * associations.
     */
    private static final int TICKS_PER_ROUND = 10;

    private final SctpProtocol protocol;
    private final InetAddress local;
    private final int packetSize;
    private final PacketChecksum checksum = new PacketChecksum();
    private final UdpPort udp;
    private final IntObjectMap<UdpAssociation> tags = new IntObjectHashMap<>();
    /**
     * Associations that can be found without a tag. NATs may give several associations the same key; the key then leads
     * to the last one that moved there.
     */
    private final Map<PeerKey, UdpAssociation> peers = new HashMap<>();

    private final HalfOpenAssociations halfOpen;
    private final Map<Integer, Listener> listeners = new HashMap<>();
    private final ArrayList<UdpAssociation> batch = new ArrayList<>();
    private int nextPort = ThreadLocalRandom.current().nextInt(EPHEMERAL_PORTS);
    private int ticks;

    private UdpEndpoint(
            SctpProtocol protocol,
            EngineLoops loops,
            EventLoop loop,
            InetAddress local,
            OptionalInt adaptation,
            SctpSettings settings) {
        super(loops, loop, List.of(local), adaptation, settings, Duration.ofMillis(SctpProtocol.TICK_MILLIS));
        this.protocol = protocol;
        this.local = local;
        this.packetSize = PathMtu.packetSize(local, settings.maxPathMtu());
        this.udp = new UdpPort(this, local);
        this.halfOpen = new HalfOpenAssociations(settings.maxHalfOpen());
    }

    static CompletableFuture<SctpEndpoint> open(
            SctpProtocol protocol,
            EngineLoops loops,
            EventLoop loop,
            InetAddress local,
            OptionalInt adaptation,
            SctpSettings settings) {
        UdpEndpoint endpoint = new UdpEndpoint(protocol, loops, loop, local, adaptation, settings);
        return endpoint.udp.open().thenApply(ignored -> {
            endpoint.fitReceiveBuffer(endpoint.udp.channel().receiveBuffer());
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
        if (fitting < settings().receiveBuffer()) {
            changeSettings(settings().toBuilder().receiveBuffer(fitting).build());
            LOG.info(
                    "SCTP associations of {} have receive buffers of {} bytes, because the system grants no more to"
                            + " the UDP socket; raise net.core.rmem_max to {} for more",
                    local.getHostAddress(),
                    fitting,
                    settings().udpBuffer());
        }
    }

    SctpProtocol protocol() {
        return protocol;
    }

    int packetSize() {
        return packetSize;
    }

    /** Returns the output for packets of associations. */
    PacketBundler output() {
        return udp.output();
    }

    @Override
    public int udpPort() {
        return udp.channel().localAddress().getPort();
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

    private Listener newListener(int port, SctpAssociationHandler handler) throws BindException {
        int chosen = port == 0 ? freeListeningPort() : port;
        Listener listener = new Listener(chosen, handler);
        if (listeners.putIfAbsent(chosen, listener) != null) {
            throw new BindException("SCTP port " + chosen + " of " + local.getHostAddress() + " is in use");
        }
        return listener;
    }

    /** A listener at an SCTP port. */
    private final class Listener implements SctpListener {

        private final int port;
        private final SctpAssociationHandler handler;

        Listener(int port, SctpAssociationHandler handler) {
            this.port = port;
            this.handler = handler;
        }

        @Override
        public int port() {
            return port;
        }

        @Override
        public CompletableFuture<Void> close() {
            return CompletableFuture.runAsync(() -> listeners.remove(port, this), loop());
        }
    }

    @Override
    public CompletableFuture<SctpAssociation> connect(
            SctpDestination destination, Duration timeout, SctpAssociationHandler handler) {
        CompletableFuture<SctpAssociation> result = new CompletableFuture<>();
        onLoop(result, () -> {
            InetAddress remote = destination.addresses().getFirst();
            if (destination.addresses().size() != 1 || remote.getClass() != local.getClass()) {
                throw new IllegalArgumentException("SCTP in UDP takes one address of the family of "
                        + local.getHostAddress() + ", not " + destination.addresses());
            }
            if (destination.udpPort() == 0) {
                throw new IllegalArgumentException("SCTP in UDP needs the peer's UDP port");
            }
            requireRoom();
            UdpAssociation association = new UdpAssociation(this, freeKey(remote, destination), handler, result);
            begin(association, () -> {
                peers.put(association.key(), association);
                association.connect(timeout);
            });
            output().flush();
        });
        return result;
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

    /** Returns the number of associations of peers that {@link SctpSettings#maxAssociations} limits. */
    private int limited() {
        return incoming() - halfOpen.size();
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
        if (limited() > settings().maxAssociations()) {
            increment(SctpCounter.REFUSED);
            association.handler().onRefused(association.remoteAddress());
            return false;
        }
        return true;
    }

    @Override
    public void remove(UdpAssociation association) {
        peers.remove(association.key(), association);
        halfOpen.remove(association);
        super.remove(association);
    }

    // Input.

    @Override
    public void onDatagram(WireBuffer packet, int length, InetSocketAddress sender) {
        if (length < SctpPacketFlyweight.COMMON_HEADER_LENGTH + SctpPacketFlyweight.CHUNK_HEADER_LENGTH) {
            increment(SctpCounter.MALFORMED);
            return;
        }
        if (!checksum.verify(packet, length)) {
            increment(SctpCounter.BAD_CHECKSUM);
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
        increment(SctpCounter.PORT_MOVES);
        LOG.debug("the peer {} continues from UDP port {}", association.remoteAddress(), udpPort);
        peers.remove(association.key(), association);
        association.onMoved(udpPort);
        peers.put(association.key(), association);
    }

    /** Handles a packet that belongs to no association. It may be the first packet of a new one. */
    private @Nullable UdpAssociation onStranger(WireBuffer packet, int length, InetSocketAddress sender) {
        Listener listener = listeners.get(SctpPacketFlyweight.destinationPort(packet));
        boolean full = false;
        if (listener != null && OutOfTheBlue.isInit(packet, length)) {
            if (limited() < settings().maxAssociations()) {
                return admit(listener, packet, sender);
            }
            full = true;
            increment(SctpCounter.REFUSED);
            listener.handler.onRefused(
                    new InetSocketAddress(sender.getAddress(), SctpPacketFlyweight.sourcePort(packet)));
        }
        int answerLength = full ? OutOfTheBlue.REFUSAL_LENGTH : OutOfTheBlue.ANSWER_LENGTH;
        StagingBuffer answer = output().acquire(answerLength);
        if (answer == null) {
            return null;
        }
        if (OutOfTheBlue.answer(packet, length, answer.wire())) {
            if (full) {
                OutOfTheBlue.addOutOfResource(answer.wire());
            }
            output().write(answer, answerLength, sender, answerLength);
        } else {
            output().release(answer);
        }
        return null;
    }

    private UdpAssociation admit(Listener listener, WireBuffer packet, InetSocketAddress sender) {
        UdpAssociation inTheWay = halfOpen.inTheWayOf(sender.getAddress());
        if (inTheWay != null) {
            forget(inTheWay, SctpCounter.HALF_OPEN_EVICTED);
        }
        PeerKey key = new PeerKey(
                sender.getAddress(), sender.getPort(), SctpPacketFlyweight.sourcePort(packet), listener.port());
        UdpAssociation association = new UdpAssociation(this, key, listener.handler, null);
        begin(association, () -> {
            peers.put(key, association);
            halfOpen.add(association);
            association.listen();
        });
        return association;
    }

    /** Drops a half-open association. The user has not been told about it. */
    private void forget(UdpAssociation association, SctpCounter counter) {
        increment(counter);
        association.finish(false, SctpConnectException.Reason.NO_ANSWER, "half open for too long");
    }

    @Override
    public void onBatchDone() {
        // An association that is touched during this loop is appended to the list.
        for (int i = 0; i < batch.size(); i++) {
            batch.get(i).inputDone();
        }
        batch.clear();
        output().flush();
    }

    // Time.

    @Override
    protected void tick() {
        protocol.tick();
        if (++ticks % TICKS_PER_ROUND == 0) {
            expireHalfOpen();
            List.copyOf(associations()).forEach(UdpAssociation::look);
        }
        output().flush();
    }

    private void expireHalfOpen() {
        long limit = System.nanoTime() - settings().halfOpenTimeout().toNanos();
        UdpAssociation oldest = halfOpen.oldest();
        while (oldest != null && oldest.createdNanos() - limit < 0) {
            forget(oldest, SctpCounter.HALF_OPEN_EXPIRED);
            oldest = halfOpen.oldest();
        }
    }

    @Override
    protected void closeListeners() {
        listeners.clear();
    }

    @Override
    protected CompletableFuture<Void> release() {
        output().flush();
        return udp.close();
    }
}
