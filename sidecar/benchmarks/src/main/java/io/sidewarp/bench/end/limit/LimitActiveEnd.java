// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.limit;

import io.netty.channel.epoll.Epoll;
import io.sidewarp.bench.end.ActiveEnd;
import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.TransferPlan;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Sends pieces for a given time, and waits for the acknowledgement. */
public final class LimitActiveEnd implements ActiveEnd {

    private final InetAddress peer;
    private @Nullable Connected connected;

    private record Connected(BareSocket socket, Pieces pieces, ByteBuffer buffer, ByteBuffer reply) {}

    /** @param peer address of the passive end */
    public LimitActiveEnd(InetAddress peer) {
        Epoll.ensureAvailability();
        this.peer = peer;
    }

    @Override
    public void connect(TransferPlan plan, int port) throws IOException {
        Pieces pieces = new Pieces(plan);
        BareSocket socket = BareSocket.connect(new InetSocketAddress(peer, port));
        connected =
                new Connected(socket, pieces, pieces.outputBuffer(), ByteBuffer.allocateDirect(Pieces.ACKNOWLEDGEMENT));
    }

    @Override
    public DutyOutcome run(long nanos) throws IOException {
        if (connected == null) {
            throw new IllegalStateException("not connected");
        }
        return run(connected, nanos);
    }

    private static DutyOutcome run(Connected to, long nanos) throws IOException {
        Pieces pieces = to.pieces;
        MemorySegment memory = MemorySegment.ofBuffer(to.buffer);
        long begin = System.nanoTime();
        long made = 0;
        boolean last = false;
        while (!last) {
            boolean over = System.nanoTime() - begin >= nanos;
            int octets = 0;
            while (!last && octets < to.buffer.capacity()) {
                // The run ends with a whole message.
                last = over && (made + 1) % pieces.perMessage() == 0;
                pieces.write(to.buffer, memory, octets, last);
                octets += pieces.length();
                made++;
            }
            to.socket.send(to.buffer, octets);
        }
        while (to.socket.receive(to.reply, 0, Pieces.ACKNOWLEDGEMENT) == 0) {
            Thread.onSpinWait();
        }
        return DutyOutcome.stream(System.nanoTime() - begin, made / pieces.perMessage());
    }

    @Override
    public void close() throws IOException {
        if (connected != null) {
            connected.socket.close();
            connected = null;
        }
    }
}
