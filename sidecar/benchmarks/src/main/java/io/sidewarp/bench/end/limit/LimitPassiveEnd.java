// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.limit;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Socket;
import io.sidewarp.bench.end.PassiveEnd;
import io.sidewarp.bench.end.TransferPlan;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Receives pieces, and acknowledges each run by one byte. */
public final class LimitPassiveEnd implements PassiveEnd {

    /** Length of a buffer that is larger than any peer address. */
    private static final int ADDRESS = 64;

    private final InetAddress address;
    private @Nullable Thread thread;
    private volatile boolean over;

    /** @param address where it listens */
    public LimitPassiveEnd(InetAddress address) {
        Epoll.ensureAvailability();
        this.address = address;
    }

    @Override
    public int listen(TransferPlan plan) throws IOException {
        Socket listener = Socket.newSocketStream();
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(1);
        over = false;
        thread = Thread.ofPlatform().daemon().name("bench-limit").start(() -> serve(listener, plan));
        return listener.localAddress().getPort();
    }

    private void serve(Socket listener, TransferPlan plan) {
        try {
            int descriptor = accept(listener);
            if (descriptor >= 0) {
                try (BareSocket socket = new BareSocket(new Socket(descriptor))) {
                    take(socket, new Pieces(plan));
                }
            }
        } catch (EOFException e) {
            // The plan is over.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the next connection, or a negative number if the plan ends first. */
    private int accept(Socket listener) throws IOException {
        try {
            byte[] peer = new byte[ADDRESS];
            int descriptor = listener.accept(peer);
            while (descriptor < 0 && !over) {
                Thread.onSpinWait();
                descriptor = listener.accept(peer);
            }
            return descriptor;
        } finally {
            listener.close();
        }
    }

    private void take(BareSocket socket, Pieces pieces) throws IOException {
        ByteBuffer buffer = pieces.inputBuffer();
        ByteBuffer reply = ByteBuffer.allocateDirect(Pieces.ACKNOWLEDGEMENT);
        MemorySegment memory = MemorySegment.ofBuffer(buffer);
        int begin = 0;
        int end = 0;
        while (!over) {
            int count = socket.receive(buffer, end, buffer.capacity());
            if (count == 0) {
                Thread.onSpinWait();
            }
            end += count;
            while (end - begin >= pieces.length()) {
                if (pieces.read(buffer, memory, begin)) {
                    socket.send(reply, Pieces.ACKNOWLEDGEMENT);
                }
                begin += pieces.length();
            }
            if (begin == end) {
                begin = 0;
                end = 0;
            }
        }
    }

    @Override
    public void close() throws InterruptedException {
        over = true;
        if (thread != null) {
            thread.join();
            thread = null;
        }
    }
}
