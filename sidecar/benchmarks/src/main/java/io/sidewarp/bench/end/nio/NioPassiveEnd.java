// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.nio;

import io.sidewarp.bench.end.Mode;
import io.sidewarp.bench.end.PassiveEnd;
import io.sidewarp.bench.end.TransferPlan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** Reads a stream and acknowledges its end by one byte, or sends each message back. */
public final class NioPassiveEnd implements PassiveEnd {

    private final InetAddress address;
    private @Nullable ServerSocketChannel listener;
    private @Nullable Thread thread;

    /** @param address where it listens */
    public NioPassiveEnd(InetAddress address) {
        this.address = address;
    }

    @Override
    public int listen(TransferPlan plan) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open().bind(new InetSocketAddress(address, 0));
        listener = channel;
        thread = Thread.ofPlatform().daemon().name("bench-nio").start(() -> serve(channel, plan));
        return channel.socket().getLocalPort();
    }

    private static void serve(ServerSocketChannel listener, TransferPlan plan) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(plan.size());
        while (listener.isOpen()) {
            try (SocketChannel channel = Channels.prepare(listener.accept(), plan.waiting())) {
                serve(channel, buffer, plan.mode());
            } catch (ClosedChannelException e) {
                // The plan is over.
                return;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static void serve(SocketChannel channel, ByteBuffer buffer, Mode mode) throws IOException {
        if (mode == Mode.PING_PONG) {
            while (Channels.readFully(channel, buffer)) {
                Channels.writeFully(channel, buffer);
            }
            return;
        }
        int count = channel.read(buffer.clear());
        while (count >= 0) {
            count = channel.read(buffer.clear());
        }
        Channels.writeFully(channel, ByteBuffer.allocateDirect(1));
    }

    @Override
    public void close() throws IOException, InterruptedException {
        if (listener != null) {
            listener.close();
            listener = null;
        }
        if (thread != null) {
            thread.join();
            thread = null;
        }
    }
}
