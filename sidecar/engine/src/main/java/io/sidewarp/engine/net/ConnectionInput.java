// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.buffer.ByteBuf;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.memory.WireBuffer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What a connection reads into: the buffer of its loop, and while that ends with the beginning of a long FPDU the same
 * buffer for itself, so that the rest is read behind it and nothing is copied. Belongs to one event loop.
 */
final class ConnectionInput {

    private final LoopResources resources;
    private final ReassemblyBuffers.Share share;
    private @Nullable StagingBuffer kept;
    private int from;
    private int to;
    private boolean filled;

    /** @param giveWay ends the connection, whose incomplete FPDU has memory that others need */
    ConnectionInput(LoopResources resources, Runnable giveWay) {
        this.resources = resources;
        this.share = new ReassemblyBuffers.Share(giveWay);
    }

    private StagingBuffer buffer() {
        return kept == null ? resources.input() : kept;
    }

    /** The view for a channel to read into, which begins with what is kept; one reference for the channel. */
    ByteBuf target() {
        return buffer().forReading().setIndex(from, to);
    }

    /**
     * Reads behind what is kept, without a channel, and passes up.
     *
     * @param descriptor of the connection's socket
     * @return octets, 0 when there were none
     */
    int read(MpaConnection connection, int descriptor) throws IOException {
        StagingBuffer into = buffer();
        long octets = resources
                .socketCalls()
                .receive(descriptor, into.address() + to, into.wire().capacity() - to);
        if (octets <= 0) {
            // The end of the peer's octets is the channel's to find.
            return 0;
        }
        deliver(connection, to + (int) octets);
        return (int) octets;
    }

    /** Where {@link #target} begins to be read into. */
    int end() {
        return to;
    }

    /** Whether a channel that read into the given view read into {@link #target}. */
    boolean isBehind(ByteBuf view) {
        return buffer().isBehind(view);
    }

    /**
     * Passes up what is kept and what was read behind it, and keeps what is not taken.
     *
     * @param end behind the last octet that was read
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
            wire.putBytes(0, wire, from, to - from);
            to -= from;
            from = 0;
        }
    }

    /** Passes up what a channel read elsewhere: one that had read before it was adopted keeps to its buffers. */
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

    /** Whether what was read last filled the buffer, so that there may be more. */
    boolean isFilled() {
        return filled;
    }

    /** For MPA, which puts together there what {@link #deliver} does not keep. */
    WireBuffer acquireReassembly(int capacity) {
        return resources.reassembly().acquire(share, capacity);
    }

    WireBuffer growReassembly(WireBuffer buffer, int held, int capacity) {
        return resources.reassembly().grow(share, buffer, held, capacity);
    }

    void releaseReassembly(WireBuffer buffer) {
        resources.reassembly().release(share, buffer);
    }

    /** Keeps nothing any more. */
    void release() {
        if (kept != null) {
            resources.releaseInput(kept);
            kept = null;
        }
        from = 0;
        to = 0;
    }
}
