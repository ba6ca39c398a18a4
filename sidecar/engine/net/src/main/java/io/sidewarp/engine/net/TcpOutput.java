// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.socket.SocketChannel;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import java.io.IOException;

/**
 * Output of one TCP connection. Output is produced into one buffer and given to the socket in one call. No more output
 * is produced until the socket took all of it. A connection therefore holds a buffer only while the socket is full.
 * While others hold all of the limited buffers, the connection uses short ones. Belongs to one event loop.
 */
final class TcpOutput {

    /** Buffers written in a row before other tasks of the loop get their turn. */
    private static final int WRITES_PER_SHARE = 8;
    /** Bytes written in a row before other tasks of the loop get their turn. */
    private static final int OCTETS_PER_SHARE = NetSettings.LARGE_OUTPUT_CAPACITY / 2;

    private final TcpTransport transport;
    private final SocketChannel channel;
    private final LoopResources resources;
    private final TcpClosing closing;
    private final TurnShare drive;
    private final OutputTurn turn = new OutputTurn(this::schedule);
    private final OutputRamp ramp = new OutputRamp();
    private final UserTimeout userTimeout;
    private final SegmentSize segmentSize;
    private final SocketWriter writer;
    private final OutputStall stall;

    private boolean wanted;
    private boolean scheduled;
    private boolean driving;
    private long producedOctets;
    /** Bytes of MPA in the pending buffer. TLS adds others. */
    private int pendingPayload;

    TcpOutput(
            TcpTransport transport,
            SocketChannel channel,
            LoopResources resources,
            NetSettings settings,
            TcpClosing closing) {
        this.transport = transport;
        this.channel = channel;
        this.resources = resources;
        this.closing = closing;
        this.drive = new TurnShare(channel.eventLoop(), this::driveGuarded);
        this.userTimeout = new UserTimeout(channel, settings);
        this.segmentSize = new SegmentSize(channel, resources, this::request);
        this.writer = new SocketWriter(channel, resources, segmentSize);
        this.stall = new OutputStall(
                channel, writer, resources, settings, cause -> transport.loseTo(PeerLimit.STALL, cause));
    }

    /** Begins when the connection is up. */
    void begin() {
        userTimeout.begin();
    }

    /** Returns the segment size that the kernel told recently. */
    int emss() {
        return segmentSize.emss();
    }

    /** Returns whether the socket is full. */
    boolean isPending() {
        return writer.isPending();
    }

    boolean isDriving() {
        return driving;
    }

    /** Returns whether the socket took all output that was produced, and no more is about to be produced. */
    boolean isDone() {
        TlsStream tls = transport.tls();
        return !writer.isPending() && !scheduled && (tls == null || !tls.wantsOutput());
    }

    /** Asks for a call of {@link MpaConnection#produce} as soon as the socket can take bytes. Cheap to repeat. */
    void request() {
        wanted = true;
        if (!driving && !transport.isReading() && !writer.isPending()) {
            schedule();
        }
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            drive.request();
        }
    }

    /** Produces what was requested during input. */
    void onInputDone() {
        if (wanted) {
            drive();
        }
    }

    /** Continues when the socket took the pending buffer. */
    void onWritability() {
        if (channel.isWritable() && writer.isPending() && !driving && onWritten()) {
            drive();
        }
    }

    /** Notes that the peer has to acknowledge a FIN. */
    void onFin() {
        userTimeout.onOutput();
    }

    /** Runs as a task of the loop, where nobody else catches exceptions. */
    private void driveGuarded() {
        try {
            drive();
        } catch (RuntimeException | Error e) {
            transport.failHere(e);
        }
    }

    private void drive() {
        scheduled = false;
        if (driving) {
            return;
        }
        driving = true;
        try {
            long end = producedOctets + OCTETS_PER_SHARE;
            int writes = WRITES_PER_SHARE;
            while (writes > 0 && producedOctets < end && produce()) {
                writes--;
            }
            if (writes == 0 || producedOctets >= end) {
                drive.use();
            }
        } finally {
            driving = false;
        }
        if (wanted && mayProduce()) {
            schedule();
        }
        if (writer.isPending() || !scheduled) {
            // A connection with a full socket, or with nothing to send, needs no other buffer.
            resources.giveUp(turn);
        }
        if (isDone()) {
            writer.pause();
        }
        transport.finishClose();
    }

    private boolean mayProduce() {
        return !writer.isPending() && !transport.isLost() && !closing.isOutputShut();
    }

    /** Produces and writes one buffer. Returns false when there is nothing to do or the socket is full. */
    private boolean produce() {
        MpaConnection connection = transport.connection();
        if (connection == null || !mayProduce()) {
            return false;
        }
        StagingBuffer buffer = turn.isWaiting() ? null : resources.acquireOutput(turn);
        if (buffer == null) {
            buffer = resources.shortOutput();
        }
        wanted = false;
        int octets = 0;
        try {
            octets = produce(connection, buffer);
        } finally {
            if (octets == 0) {
                resources.releaseOutput(buffer, true);
            }
        }
        producedOctets += octets;
        RecentInput.ofThisLoop().onOutput(octets);
        return octets > 0 && write(buffer, octets) && onWritten();
    }

    private int produce(MpaConnection connection, StagingBuffer buffer) {
        TlsStream tls = transport.tls();
        if (tls != null) {
            int octets = tls.produce(connection, buffer.wire(), room(buffer));
            pendingPayload = tls.plaintext();
            return octets;
        }
        pendingPayload = connection.produce(buffer.wire(), 0, room(buffer));
        return pendingPayload;
    }

    /** Returns how many bytes of a buffer may be used. */
    private int room(StagingBuffer buffer) {
        int capacity = buffer.wire().capacity();
        return capacity == NetSettings.SHORT_OUTPUT_CAPACITY
                ? capacity
                : writer.room(Math.min(capacity, ramp.next(System.nanoTime(), LoopIdleness.ofThisLoop())));
    }

    /** Gives a buffer to the socket. Returns false when the socket did not take all of it, or failed. */
    private boolean write(StagingBuffer buffer, int octets) {
        userTimeout.onOutput();
        segmentSize.onOutput();
        try {
            TlsStream tls = transport.tls();
            if (writer.write(buffer, tls == null ? null : tls.records(), octets)) {
                return true;
            }
            stall.begin();
        } catch (IOException e) {
            transport.failOutput(e);
        }
        return false;
    }

    /** Releases the pending buffer, which the socket took. */
    private boolean onWritten() {
        boolean lost = transport.isLost();
        writer.release(!lost);
        ramp.onWritten(System.nanoTime());
        MpaConnection connection = transport.connection();
        if (connection != null && !lost && pendingPayload > 0) {
            connection.transferred(pendingPayload);
        }
        return !transport.isLost();
    }

    /**
     * Releases all resources of the loop. The connection is over.
     *
     * @param reusable false when Netty may still hold the pending buffer for a moment
     */
    void end(boolean reusable) {
        stall.end();
        userTimeout.end();
        segmentSize.end();
        writer.release(reusable);
        resources.giveUp(turn);
    }
}
