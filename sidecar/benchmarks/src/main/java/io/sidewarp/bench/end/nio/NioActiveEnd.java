// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.nio;

import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.Mode;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.cli.perf.Histogram;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** Streams messages, or writes one at a time and waits until it comes back. */
public final class NioActiveEnd implements ActiveEnd {

    private final InetAddress peer;
    private @Nullable TransferPlan plan;
    private int port;

    /** @param peer address of the passive end */
    public NioActiveEnd(InetAddress peer) {
        this.peer = peer;
    }

    @Override
    public void connect(TransferPlan newPlan, int newPort) {
        plan = newPlan;
        port = newPort;
    }

    @Override
    public DutyOutcome run(long nanos) throws IOException {
        TransferPlan current = plan;
        if (current == null) {
            throw new IllegalStateException("not connected");
        }
        InetSocketAddress address = new InetSocketAddress(peer, port);
        try (SocketChannel channel = Channels.prepare(SocketChannel.open(address), current.waiting())) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(current.size());
            return current.mode() == Mode.STREAM ? stream(channel, buffer, nanos) : pingPong(channel, buffer, nanos);
        }
    }

    private static DutyOutcome stream(SocketChannel channel, ByteBuffer buffer, long nanos) throws IOException {
        long begin = System.nanoTime();
        long messages = 0;
        do {
            Channels.writeFully(channel, buffer);
            messages++;
        } while (System.nanoTime() - begin < nanos);
        channel.shutdownOutput();
        // The peer acknowledges the whole stream.
        if (!Channels.readFully(channel, ByteBuffer.allocateDirect(1))) {
            throw new IOException("the peer did not acknowledge the stream");
        }
        return DutyOutcome.stream(System.nanoTime() - begin, messages);
    }

    private static DutyOutcome pingPong(SocketChannel channel, ByteBuffer buffer, long nanos) throws IOException {
        Histogram histogram = new Histogram();
        long begin = System.nanoTime();
        long sent = begin;
        do {
            Channels.writeFully(channel, buffer);
            if (!Channels.readFully(channel, buffer)) {
                throw new IOException("the peer closed instead of answering");
            }
            long now = System.nanoTime();
            histogram.record((now - sent) / 2);
            sent = now;
        } while (sent - begin < nanos);
        return DutyOutcome.pingPong(sent - begin, histogram);
    }

    @Override
    public void close() {
        plan = null;
    }
}
