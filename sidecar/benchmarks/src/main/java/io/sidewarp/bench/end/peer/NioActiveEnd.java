// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.peer;

import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Mode;
import io.sidewarp.bench.end.Waiting;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.HdrHistogram.Histogram;

/**
 * Bare TCP over a socket channel of the JDK: streams messages, or writes one at a time and waits until it comes back. A
 * run is a connection, which ends when this end shuts its output.
 */
public final class NioActiveEnd implements ActiveEnd {

    private final TransferPlan plan;
    private final InetSocketAddress peer;

    public NioActiveEnd(TransferPlan plan, InetSocketAddress peer) {
        this.plan = plan;
        this.peer = peer;
    }

    /** Configures a channel for a plan's way of waiting: a channel that spins does not block. */
    static SocketChannel prepare(SocketChannel channel, Waiting waiting) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(waiting != Waiting.SPIN);
        return channel;
    }

    /** Fills the buffer; returns false if the peer finished before the first byte. */
    static boolean readFully(SocketChannel channel, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            int count = channel.read(buffer);
            if (count < 0 && buffer.position() == 0) {
                return false;
            }
            if (count < 0) {
                throw new EOFException("the peer closed within a message");
            }
            if (count == 0) {
                Thread.onSpinWait();
            }
        }
        return true;
    }

    static void writeFully(SocketChannel channel, ByteBuffer buffer) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            if (channel.write(buffer) == 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Override
    public DutyOutcome run(long nanos) throws IOException {
        try (SocketChannel channel = prepare(SocketChannel.open(peer), plan.waiting())) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(plan.size());
            return plan.mode() == Mode.STREAM ? stream(channel, buffer, nanos) : pingPong(channel, buffer, nanos);
        }
    }

    private static DutyOutcome stream(SocketChannel channel, ByteBuffer buffer, long nanos) throws IOException {
        long begin = System.nanoTime();
        long messages = 0;
        do {
            writeFully(channel, buffer);
            messages++;
        } while (System.nanoTime() - begin < nanos);
        channel.shutdownOutput();
        // The peer acknowledges the whole stream.
        if (!readFully(channel, ByteBuffer.allocateDirect(1))) {
            throw new IOException("the peer did not acknowledge the stream");
        }
        return DutyOutcome.stream(System.nanoTime() - begin, messages);
    }

    private static DutyOutcome pingPong(SocketChannel channel, ByteBuffer buffer, long nanos) throws IOException {
        Histogram histogram = DutyOutcome.newHistogram();
        long begin = System.nanoTime();
        long sent = begin;
        do {
            writeFully(channel, buffer);
            if (!readFully(channel, buffer)) {
                throw new IOException("the peer closed instead of answering");
            }
            long now = System.nanoTime();
            histogram.recordValue((now - sent) / 2);
            sent = now;
        } while (sent - begin < nanos);
        return DutyOutcome.pingPong(sent - begin, histogram);
    }
}
