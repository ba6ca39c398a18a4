// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.llp.sctp.SctpUser;
import io.sidewarp.engine.memory.WireBuffer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An association of a {@link UdpEndpoint}. The user is called only when the protocol's code has returned.
 */
final class UdpAssociation implements SctpAssociation {

    private enum State {
        CONNECTING,
        HALF_OPEN,
        /** Up, the user not told yet. */
        STARTING,
        ESTABLISHED,
        /** This side has aborted it, the user not told yet. */
        ENDING,
        CLOSED
    }

    private final UdpEndpoint endpoint;
    private final SctpAssociationHandler handler;
    private final @Nullable CompletableFuture<SctpAssociation> connected;
    private final SctpSocket socket;
    private final int messageSize;
    private final TsnTracker tsns = new TsnTracker();
    private final SctpReceived received = new SctpReceived();
    private final AssociationOutput output;
    private final Runnable drive = this::driveGuarded;
    private final Runnable wake = this::onWakeTime;
    private final long createdNanos = System.nanoTime();
    private final InetSocketAddress localAddress;
    private final InetSocketAddress remoteAddress;

    private PeerKey key;
    private State state;
    private @Nullable SctpUser user;
    private @Nullable String abortCause;
    private @Nullable ScheduledFuture<?> deadline;
    private @Nullable ScheduledFuture<?> wakeTask;
    private int inboundStreams;
    private int outboundStreams;
    private OptionalInt peerAdaptation = OptionalInt.empty();
    private long submitted;
    private boolean touched;
    private boolean shuttingDown;
    private boolean endedHere;
    private boolean outputWanted;
    private boolean driveScheduled;
    private boolean full;
    private long acknowledgedWhenFull;
    private boolean acknowledgedWanted;
    private long acknowledgedWhenAsked;
    private boolean wakeWanted;
    private long wakeNanos;
    private long wakeTaskNanos;

    private UdpAssociation(
            UdpEndpoint endpoint,
            PeerKey key,
            SctpAssociationHandler handler,
            State state,
            @Nullable CompletableFuture<SctpAssociation> connected) {
        this.endpoint = endpoint;
        this.key = key;
        this.handler = handler;
        this.state = state;
        this.connected = connected;
        this.output = new AssociationOutput(endpoint, this, tsns, key);
        this.localAddress = new InetSocketAddress(endpoint.localAddresses().getFirst(), key.localPort());
        this.remoteAddress = new InetSocketAddress(key.address(), key.remotePort());
        this.messageSize = PathMtu.messageSize(endpoint.packetSize());
        this.socket = endpoint.protocol()
                .open(key.localPort(), endpoint.packetSize(), endpoint.adaptation(), endpoint.settings(), output);
    }

    static UdpAssociation outgoing(
            UdpEndpoint endpoint,
            PeerKey key,
            SctpAssociationHandler handler,
            CompletableFuture<SctpAssociation> connected) {
        return new UdpAssociation(endpoint, key, handler, State.CONNECTING, connected);
    }

    static UdpAssociation incoming(UdpEndpoint endpoint, PeerKey key, SctpAssociationHandler handler) {
        return new UdpAssociation(endpoint, key, handler, State.HALF_OPEN, null);
    }

    void connect(Duration timeout) {
        deadline = endpoint.loop()
                .schedule(
                        () -> finish(false, "no answer within " + timeout.toMillis() + " ms"),
                        timeout.toNanos(),
                        TimeUnit.NANOSECONDS);
        try {
            socket.connect(key.remotePort());
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    void listen() {
        try {
            socket.listen();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    PeerKey key() {
        return key;
    }

    long createdNanos() {
        return createdNanos;
    }

    /** Whether a packet from that address has the ports of this association. */
    boolean isWith(InetAddress address, WireBuffer input) {
        return SctpPacketFlyweight.sourcePort(input) == key.remotePort()
                && SctpPacketFlyweight.destinationPort(input) == key.localPort()
                && address.equals(key.address());
    }

    void onMoved(int udpPort) {
        key = new PeerKey(key.address(), udpPort, key.remotePort(), key.localPort());
        output.sendTo(key);
    }

    // Input.

    /** True when this is the first packet of the batch; {@link #batchDone} is due then. */
    boolean touch() {
        boolean first = !touched;
        touched = true;
        return first;
    }

    /** @param verified whether the packet bears a tag of this side's */
    void input(WireBuffer input, int length, boolean verified) {
        if (state == State.CLOSED || state == State.ENDING) {
            return;
        }
        if (verified) {
            inspectInput(input, length);
        }
        try {
            socket.input(input, 0, length);
            drain();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    private void inspectInput(WireBuffer input, int length) {
        for (int chunk = SctpPacketFlyweight.COMMON_HEADER_LENGTH;
                SctpPacketFlyweight.isChunk(input, chunk, length);
                chunk = SctpPacketFlyweight.nextChunk(input, chunk)) {
            int type = SctpPacketFlyweight.chunkType(input, chunk);
            if ((type == SctpPacketFlyweight.SACK || type == SctpPacketFlyweight.SHUTDOWN)
                    && SctpPacketFlyweight.chunkLength(input, chunk) >= 2 * SctpPacketFlyweight.CHUNK_HEADER_LENGTH) {
                tsns.onAcknowledged(SctpPacketFlyweight.chunkValue(input, chunk));
            } else if (type == SctpPacketFlyweight.ABORT) {
                abortCause = AbortCause.describe(input, chunk);
            }
        }
    }

    /** Takes what the protocol has for the user. */
    private void drain() {
        while (state != State.CLOSED && state != State.ENDING && socket.receive(endpoint.messages(), received)) {
            switch (received.kind) {
                case MESSAGE -> onMessage();
                case UP -> onUp();
                case ADAPTATION -> peerAdaptation = OptionalInt.of(received.adaptation);
                case LOST -> onLost();
                case RESTARTED -> endNow("the peer began the association anew");
                case SHUT_DOWN -> finish(true, "shut down");
                case OTHER -> {
                    // Nothing to do.
                }
            }
        }
        establish();
    }

    private void onUp() {
        inboundStreams = received.inboundStreams;
        outboundStreams = received.outboundStreams;
        if (state == State.HALF_OPEN && !endpoint.onUp(this)) {
            endNow("there are as many associations as are allowed");
        } else {
            state = State.STARTING;
        }
    }

    /** Tells the user, when all is known that comes with the start. */
    private void establish() {
        if (state != State.STARTING) {
            return;
        }
        state = State.ESTABLISHED;
        cancelDeadline();
        SctpUser newUser = handler.onAssociation(this);
        user = newUser;
        newUser.onEstablished(inboundStreams, outboundStreams, peerAdaptation);
        if (connected != null) {
            connected.complete(this);
        }
    }

    private void onMessage() {
        establish();
        if (!received.complete) {
            endNow("the peer sent a message of more than " + endpoint.messages().capacity() + " octets");
        } else if (user != null && state == State.ESTABLISHED) {
            user.onMessage(received.stream, received.payloadProtocol, endpoint.messages(), 0, received.length);
        }
    }

    private void onLost() {
        String cause = abortCause;
        finish(false, cause == null ? "the peer does not answer" : cause);
    }

    /** All packets of the batch were passed in. */
    void batchDone() {
        touched = false;
        try {
            if (user != null && state == State.ESTABLISHED) {
                user.onInputDone();
            }
            advance();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** Looks whether timers of the protocol have changed something. */
    void look() {
        if (state == State.CLOSED || state == State.ENDING) {
            return;
        }
        try {
            drain();
            // Once in a while also without a sign that there is room.
            outputWanted |= full;
            advance();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** Calls the user for what it has asked for. */
    private void advance() {
        SctpUser current = user;
        if (current == null || state != State.ESTABLISHED) {
            return;
        }
        if (acknowledgedWanted && tsns.acknowledged() > acknowledgedWhenAsked) {
            acknowledgedWanted = false;
            current.onAcknowledged();
        }
        if (outputWanted || full && tsns.acknowledged() > acknowledgedWhenFull) {
            outputWanted = false;
            full = false;
            if (state == State.ESTABLISHED && !shuttingDown) {
                current.produce();
            }
        }
    }

    private void driveGuarded() {
        driveScheduled = false;
        try {
            advance();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        endpoint.channel().flush();
    }

    private void fail(Throwable fault) {
        endpoint.loops().onFault(fault);
        endNow("this side failed: " + fault);
    }

    // What the user asks for.

    @Override
    public void requestOutput() {
        outputWanted = true;
        scheduleDrive();
    }

    private void scheduleDrive() {
        if (!touched && !driveScheduled && state == State.ESTABLISHED) {
            driveScheduled = true;
            endpoint.loop().execute(drive);
        }
    }

    @Override
    public boolean send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if (length > messageSize || length <= 0) {
            throw new IllegalArgumentException("a message has 1 to " + messageSize + " octets, not " + length);
        }
        if (state != State.ESTABLISHED || shuttingDown) {
            return false;
        }
        SctpSocket.SendResult result = socket.send(stream, payloadProtocol, buffer, offset, length);
        if (result == SctpSocket.SendResult.SENT) {
            submitted++;
            return true;
        }
        if (result == SctpSocket.SendResult.FULL) {
            full = true;
            acknowledgedWhenFull = tsns.acknowledged();
        }
        return false;
    }

    @Override
    public int maxMessage() {
        return messageSize;
    }

    @Override
    public long acknowledged() {
        return tsns.acknowledged();
    }

    @Override
    public void requestAcknowledged() {
        if (!acknowledgedWanted) {
            acknowledgedWanted = true;
            acknowledgedWhenAsked = tsns.acknowledged();
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void wakeAt(long nanoTime) {
        wakeWanted = true;
        wakeNanos = nanoTime;
        if (wakeTask == null || nanoTime - wakeTaskNanos < 0) {
            scheduleWake();
        }
    }

    private void scheduleWake() {
        cancelWake();
        wakeTaskNanos = wakeNanos;
        long delay = Math.max(0, wakeNanos - System.nanoTime());
        wakeTask = endpoint.loop().schedule(wake, delay, TimeUnit.NANOSECONDS);
    }

    private void onWakeTime() {
        wakeTask = null;
        if (!wakeWanted || user == null || state != State.ESTABLISHED) {
            return;
        }
        if (wakeNanos - System.nanoTime() > 0) {
            scheduleWake();
            return;
        }
        wakeWanted = false;
        try {
            user.onWake();
            advance();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        endpoint.channel().flush();
    }

    // The end.

    @Override
    public void shutdown() {
        if (state != State.ESTABLISHED || shuttingDown) {
            return;
        }
        shuttingDown = true;
        Duration timeout = endpoint.settings().shutdownTimeout();
        deadline = endpoint.loop()
                .schedule(
                        () -> endNow("the peer did not complete the shutdown within " + timeout.toMillis() + " ms"),
                        timeout.toNanos(),
                        TimeUnit.NANOSECONDS);
        socket.shutdown();
        endpoint.loop().execute(endpoint.channel()::flush);
    }

    @Override
    public void abort(String reason) {
        if (state != State.CLOSED && state != State.ENDING) {
            socket.abort(reason);
            state = State.ENDING;
            endpoint.loop().execute(() -> {
                endpoint.channel().flush();
                finish(false, "aborted: " + reason);
            });
        }
    }

    /** Aborts, and tells the user at once. Not from within a call of the user's. */
    void endNow(String cause) {
        if (state != State.CLOSED) {
            endedHere = true;
            if (state == State.ESTABLISHED || state == State.STARTING) {
                socket.abort(cause);
            }
            finish(false, cause);
            endpoint.channel().flush();
        }
    }

    /** Drops a half open association, which nobody has heard of. */
    void forget() {
        finish(false, "half open for too long");
    }

    private void finish(boolean graceful, String cause) {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        cancelDeadline();
        cancelWake();
        endpoint.remove(this);
        output.close();
        socket.close();
        if (connected != null) {
            connected.completeExceptionally(new SctpConnectException(failureReason(), cause));
        }
        if (user != null) {
            try {
                user.onClosed(graceful, cause);
            } catch (RuntimeException | Error e) {
                endpoint.loops().onFault(e);
            }
        }
    }

    private SctpConnectException.Reason failureReason() {
        if (abortCause != null) {
            return SctpConnectException.Reason.REFUSED;
        }
        return endedHere ? SctpConnectException.Reason.ABORTED : SctpConnectException.Reason.NO_ANSWER;
    }

    private void cancelDeadline() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    private void cancelWake() {
        if (wakeTask != null) {
            wakeTask.cancel(false);
            wakeTask = null;
        }
    }

    // Facts.

    @Override
    public EventLoop loop() {
        return endpoint.loop();
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
        SctpSocketStatus status = socket.status();
        return new SctpAssociationFacts(
                List.of(new SctpPathFacts(
                        remoteAddress.getAddress(),
                        true,
                        status.pathActive(),
                        status.smoothedRtt(),
                        status.rto(),
                        status.congestionWindow(),
                        status.pathMtu())),
                status.peerWindow(),
                status.inboundStreams(),
                status.outboundStreams(),
                tsns.sent() - tsns.acknowledged(),
                submitted - tsns.sent());
    }
}
