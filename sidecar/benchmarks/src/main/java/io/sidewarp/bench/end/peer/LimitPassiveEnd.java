// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.peer;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Socket;
import io.sidewarp.bench.end.PassiveEnd;
import io.sidewarp.bench.end.TransferPlan;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Receives over a {@link BareSocket}, or with TLS over a {@link BareTls}, what one active end sends. */
public final class LimitPassiveEnd implements PassiveEnd {

    /** Length of a buffer that is larger than any peer address. */
    private static final int ADDRESS = 64;

    private final TransferPlan plan;
    private final Socket listener;
    private final Thread thread;
    private volatile boolean over;

    public LimitPassiveEnd(TransferPlan plan, InetAddress address) throws IOException {
        Epoll.ensureAvailability();
        this.plan = plan;
        listener = Socket.newSocketStream();
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(1);
        thread = Thread.ofPlatform().daemon().name("bench-limit").start(this::serve);
    }

    @Override
    public int port() {
        return listener.localAddress().getPort();
    }

    private void serve() {
        try {
            byte[] peer = new byte[ADDRESS];
            int descriptor = listener.accept(peer);
            while (descriptor < 0 && !over) {
                Thread.onSpinWait();
                descriptor = listener.accept(peer);
            }
            if (descriptor >= 0) {
                try (BareStream socket = open(new Socket(descriptor))) {
                    socket.receive();
                }
            }
        } catch (EOFException e) {
            // The active end is closed first: the plan is over.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private BareStream open(Socket socket) throws IOException {
        return plan.hasTls() ? BareTls.passive(socket, plan) : new BareSocket(socket, plan);
    }

    @Override
    public void close() throws IOException, InterruptedException {
        over = true;
        thread.join();
        listener.close();
    }
}
