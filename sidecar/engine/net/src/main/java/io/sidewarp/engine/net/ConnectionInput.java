// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.unix.Errors;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.memory.WireBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The buffer that a connection reads into. Normally this is the shared buffer of the loop. When the input ends with the
 * beginning of a long FPDU, the connection keeps that buffer for itself. The rest of the FPDU is then read behind the
 * beginning, and nothing is copied. Belongs to one event loop.
 */
final class ConnectionInput {

    private final LoopResources resources;
    private final ReassemblyBuffers.Share share;
    private @Nullable StagingBuffer kept;
    private int from;
    private int to;
    private boolean filled;

    /** @param giveWay ends the connection, because others need the memory of its incomplete FPDU */
    ConnectionInput(LoopResources resources, Runnable giveWay) {
        this.resources = resources;
        this.share = new ReassemblyBuffers.Share(giveWay);
    }

    private StagingBuffer buffer() {
        return kept == null ? resources.input() : kept;
    }

    /**
     * Returns the view for a channel to read into, behind the bytes that are kept. It has one reference for the
     * channel.
     */
    ByteBuf target() {
        return buffer().forReading().setIndex(from, to);
    }

    /**
     * Reads behind the bytes that are kept, without a channel, and delivers the input.
     *
     * @param descriptor of the connection's socket
     * @return bytes read, 0 when there were none
     */
    int read(MpaConnection connection, int descriptor) throws IOException {
        StagingBuffer into = buffer();
        int octets = resources
                .socketCalls()
                .receive(descriptor, into.address() + to, into.wire().capacity() - to);
        if (octets > 0) {
            deliver(connection, to + octets);
            return octets;
        }
        // The channel detects the end of the peer's data. EAGAIN returns 0, and all other errors throw.
        return octets == 0 ? 0 : Errors.ioResult("recv", octets);
    }

    /** Returns the bytes of the buffer. */
    int capacity() {
        return buffer().wire().capacity();
    }

    /** Returns the memory of the buffer from an offset on, for plaintext of TLS. */
    ByteBuffer from(int offset) {
        return buffer().wire().nio().clear().position(offset);
    }

    /** Moves the kept bytes to the beginning of the buffer if there is too little room behind them. */
    void makeRoom(int octets) {
        if (capacity() - to < octets) {
            moveToFront();
        }
    }

    private void moveToFront() {
        WireBuffer wire = buffer().wire();
        wire.putBytes(0, wire, from, to - from);
        to -= from;
        from = 0;
    }

    /** Returns the offset at which the next read into {@link #target} begins. */
    int end() {
        return to;
    }

    /** Returns whether the given view belongs to {@link #target}. */
    boolean isBehind(ByteBuf view) {
        return buffer().isBehind(view);
    }

    /**
     * Delivers the kept bytes and the bytes that were read behind them. Keeps the bytes that the connection does not
     * take.
     *
     * @param end offset behind the last byte that was read
     */
    void deliver(MpaConnection connection, int end) {
        WireBuffer wire = buffer().wire();
        filled = end == wire.capacity();
        int begin = from;
        int taken = connection.receive(wire, begin, end - begin, kept != null || resources.canLendInput());
        int fpduLength = connection.incompleteFpdu();
        if (fpduLength == 0) {
            release();
            return;
        }
        if (kept == null) {
            kept = resources.lendInput();
        }
        from = begin + taken;
        to = end;
        if (fpduLength > wire.capacity() - from) {
            moveToFront();
        }
    }

    /**
     * Delivers input that a channel read into another buffer. A channel that had read before it was adopted keeps its
     * own buffers.
     */
    void deliverOther(MpaConnection connection, ByteBuf input) {
        while (input.isReadable()) {
            ByteBuf staged = resources.input().forReading();
            try {
                input.readBytes(staged, Math.min(input.readableBytes(), staged.writableBytes()));
                connection.receive(resources.input().wire(), 0, staged.readableBytes());
            } finally {
                staged.release();
            }
        }
    }

    /** Returns whether the last read filled the buffer, so that more input may be waiting. */
    boolean isFilled() {
        return filled;
    }

    /** Returns a buffer in which MPA reassembles the bytes that {@link #deliver} does not keep. */
    WireBuffer acquireReassembly(int capacity) {
        return resources.reassembly().acquire(share, capacity);
    }

    WireBuffer growReassembly(WireBuffer buffer, int held, int capacity) {
        return resources.reassembly().grow(share, buffer, held, capacity);
    }

    void releaseReassembly(WireBuffer buffer) {
        resources.reassembly().release(share, buffer);
    }

    /** Releases the kept bytes. */
    void release() {
        if (kept != null) {
            resources.releaseInput(kept);
            kept = null;
        }
        from = 0;
        to = 0;
    }
}
