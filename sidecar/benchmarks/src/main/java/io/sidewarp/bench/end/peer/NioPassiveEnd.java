// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.peer;

import io.sidewarp.bench.end.PassiveEnd;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Mode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Reads a stream and acknowledges its end by one byte, or sends each message back. */
public final class NioPassiveEnd implements PassiveEnd {

    private final TransferPlan plan;
    private final ServerSocketChannel listener;
    private final Thread thread;

    public NioPassiveEnd(TransferPlan plan, InetAddress address) throws IOException {
        this.plan = plan;
        listener = ServerSocketChannel.open().bind(new InetSocketAddress(address, 0));
        thread = Thread.ofPlatform().daemon().name("bench-nio").start(this::serve);
    }

    @Override
    public int port() {
        return listener.socket().getLocalPort();
    }

    private void serve() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(plan.size());
        while (listener.isOpen()) {
            try (SocketChannel channel = NioActiveEnd.prepare(listener.accept(), plan.waiting())) {
                serve(channel, buffer);
            } catch (ClosedChannelException e) {
                // The plan is over.
                return;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void serve(SocketChannel channel, ByteBuffer buffer) throws IOException {
        if (plan.mode() == Mode.PING_PONG) {
            while (NioActiveEnd.readFully(channel, buffer)) {
                NioActiveEnd.writeFully(channel, buffer);
            }
            return;
        }
        int count = channel.read(buffer.clear());
        while (count >= 0) {
            count = channel.read(buffer.clear());
        }
        NioActiveEnd.writeFully(channel, ByteBuffer.allocateDirect(1));
    }

    @Override
    public void close() throws IOException, InterruptedException {
        listener.close();
        thread.join();
    }
}
