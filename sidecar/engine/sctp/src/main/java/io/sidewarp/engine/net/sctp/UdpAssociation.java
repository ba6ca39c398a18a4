// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.memory.WireBuffer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An association of a {@link UdpEndpoint}. */
final class UdpAssociation extends StackAssociation {

    private static final Logger LOG = LoggerFactory.getLogger(UdpAssociation.class);

    private final UdpEndpoint endpoint;
    private final SctpSocket socket;
    private final PathProbe probe;
    private final TsnTracker tsns = new TsnTracker();
    private final AssociationOutput output;
    private final long createdNanos = System.nanoTime();
    private final InetSocketAddress localAddress;
    private final InetSocketAddress remoteAddress;

    private PeerKey key;
    private @Nullable String abortCause;
    /** Reason why this side's SCTP aborted the association. */
    private @Nullable String ownAbortCause;

    private boolean up;
    private long acknowledgedWhenFull;
    /** Verification Tag of the last received packet. */
    private int inputTag;

    /** @param connected completes when the association is up; null if the peer begins it */
    UdpAssociation(
            UdpEndpoint endpoint,
            PeerKey key,
            SctpAssociationHandler handler,
            @Nullable CompletableFuture<SctpAssociation> connected) {
        super(endpoint.loops(), endpoint.loop(), endpoint.settings(), endpoint.messages(), handler, connected);
        this.endpoint = endpoint;
        this.key = key;
        this.localAddress = new InetSocketAddress(endpoint.localAddresses().getFirst(), key.localPort());
        this.remoteAddress = new InetSocketAddress(key.address(), key.remotePort());
        this.probe = new PathProbe(
                key.address(), endpoint.packetSize(), endpoint.settings().heartbeatInterval());
        this.output = new AssociationOutput(endpoint, this, tsns, probe, key);
        this.socket = endpoint.protocol()
                .open(key.localPort(), endpoint.packetSize(), endpoint.adaptation(), endpoint.settings(), output);
    }

    void connect(Duration timeout) {
        begin(timeout, () -> socket.connect(key.remotePort()));
    }

    void listen() {
        guard(socket::listen);
    }

    PeerKey key() {
        return key;
    }

    long createdNanos() {
        return createdNanos;
    }

    /** Returns whether a packet from the given address has the ports of this association. */
    boolean isWith(InetAddress address, WireBuffer input) {
        return SctpPacketFlyweight.sourcePort(input) == key.remotePort()
                && SctpPacketFlyweight.destinationPort(input) == key.localPort()
                && address.equals(key.address());
    }

    void onMoved(int udpPort) {
        key = new PeerKey(key.address(), udpPort, key.remotePort(), key.localPort());
        output.sendTo(key);
    }

    /**
     * Takes a packet of the peer, between {@link #touch} and {@link #inputDone}.
     *
     * @param verified whether the packet bears one of this side's tags
     */
    void input(WireBuffer input, int length, boolean verified) {
        if (!isLive()) {
            return;
        }
        if (verified) {
            inspectInput(input, length);
        } else if (isReflected(input, length)) {
            abortCause = "the peer knows no such association: it may have been restarted";
        }
        inputTag = SctpPacketFlyweight.verificationTag(input);
        try {
            socket.input(input, 0, length);
            drain(Integer.MAX_VALUE);
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        // An ABORT that SCTP rejected does not explain a later loss.
        abortCause = null;
    }

    /**
     * Returns whether the packet is an ABORT with the peer's own tag. The peer then has forgotten this side's tag (RFC
     * 4960 section 8.5.1).
     */
    private static boolean isReflected(WireBuffer input, int length) {
        int chunk = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
        return SctpPacketFlyweight.isChunk(
                        input, chunk, length, SctpPacketFlyweight.ABORT, SctpPacketFlyweight.CHUNK_HEADER_LENGTH)
                && (SctpPacketFlyweight.chunkFlags(input, chunk) & SctpPacketFlyweight.FLAG_T) != 0;
    }

    private void inspectInput(WireBuffer input, int length) {
        for (int chunk = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
                SctpPacketFlyweight.isChunk(input, chunk, length);
                chunk = SctpPacketFlyweight.nextChunk(input, chunk)) {
            int type = SctpPacketFlyweight.chunkType(input, chunk);
            if ((type == SctpPacketFlyweight.SACK || type == SctpPacketFlyweight.SHUTDOWN)
                    && SctpPacketFlyweight.chunkLength(input, chunk) >= 2 * SctpPacketFlyweight.CHUNK_HEADER_LENGTH) {
                tsns.onAcknowledged(SctpPacketFlyweight.chunkValue(input, chunk));
            } else if (type == SctpPacketFlyweight.HEARTBEAT_ACK) {
                onHeartbeatAck(input, chunk);
            } else if (type == SctpPacketFlyweight.ABORT) {
                abortCause = AbortCause.describe(
                        input,
                        chunk + SctpPacketFlyweight.CHUNK_HEADER_LENGTH,
                        chunk + SctpPacketFlyweight.chunkLength(input, chunk));
            }
        }
    }

    private void onHeartbeatAck(WireBuffer input, int chunk) {
        if (probe.onAnswer(input, chunk)) {
            LOG.debug("the path to {} carries SCTP packets of {} bytes", remoteAddress, probe.packetSize());
        }
    }

    private void probe() {
        if (!up) {
            return;
        }
        long now = System.nanoTime();
        if (probe.isDue(now) && probe.sent() == PathProbe.MAX_PROBES) {
            LOG.info(
                    "the path to {} drops SCTP packets of {} bytes, though the interface of {} takes them: packets"
                            + " have {} bytes; set sidewarp.advanced.sctp.max-path-mtu to the path's MTU to use all of it",
                    remoteAddress,
                    endpoint.packetSize(),
                    localAddress.getAddress().getHostAddress(),
                    probe.packetSize());
        }
        output.probe(now);
    }

    /**
     * Notes that this side's SCTP sends an ABORT.
     *
     * @param cause reason of the ABORT if known
     */
    void onAborting(@Nullable String cause) {
        ownAbortCause = cause;
    }

    /** Checks whether timers of the protocol have changed something. */
    void look() {
        if (isLive()) {
            guard(() -> {
                drain(Integer.MAX_VALUE);
                retry();
                probe();
            });
        }
    }

    @Override
    protected MessageSocket socket() {
        return socket;
    }

    @Override
    protected int messageSize() {
        return PathMtu.messageSize(probe.packetSize());
    }

    @Override
    protected boolean admit() {
        // The packet that completed the set-up was the peer's COOKIE ECHO or COOKIE ACK.
        output.settle(inputTag);
        if (!isOutgoing() && !endpoint.onUp(this)) {
            return false;
        }
        up = true;
        probe();
        return true;
    }

    @Override
    protected boolean mayHaveRoom() {
        return tsns.acknowledged() > acknowledgedWhenFull;
    }

    @Override
    protected void onFull() {
        acknowledgedWhenFull = tsns.acknowledged();
    }

    @Override
    protected void flush() {
        endpoint.output().flush();
    }

    @Override
    protected void onFinished() {
        endpoint.remove(this);
        output.close();
    }

    @Override
    protected @Nullable String lossCause() {
        return abortCause == null ? ownAbortCause : abortCause;
    }

    @Override
    protected long countAcknowledged() {
        return tsns.acknowledged();
    }

    @Override
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public int remoteUdpPort() {
        return key.udpPort();
    }

    @Override
    public long retransmittedChunks() {
        return tsns.retransmitted();
    }

    @Override
    public SctpAssociationFacts facts() {
        return isLive()
                ? socket.facts(
                        remoteAddress.getAddress(),
                        probe.packetSize(),
                        tsns.sent() - tsns.acknowledged(),
                        submitted() - tsns.sent())
                : SctpAssociationFacts.NONE;
    }
}
