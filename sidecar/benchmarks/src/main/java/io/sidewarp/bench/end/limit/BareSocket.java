// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.limit;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.channel.unix.Socket;
import io.sidewarp.engine.net.CongestionControl;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** A TCP socket with the engine's congestion control on loopback. Callers that wait for the socket spin. */
final class BareSocket implements AutoCloseable {

    private static final int IPPROTO_TCP = 6;
    private static final int TCP_CONGESTION = 13;

    private final Socket socket;

    /**
     * Takes over a socket.
     *
     * @param socket socket that {@link #close} closes
     */
    BareSocket(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setRawOpt(IPPROTO_TCP, TCP_CONGESTION, ByteBuffer.wrap(CongestionControl.LOCAL.getBytes(US_ASCII)));
    }

    static BareSocket connect(InetSocketAddress peer) throws IOException {
        Socket socket = Socket.newSocketStream();
        try {
            BareSocket bare = new BareSocket(socket);
            boolean connected = socket.connect(peer);
            while (!connected) {
                Thread.onSpinWait();
                connected = socket.finishConnect();
            }
            return bare;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    void send(ByteBuffer buffer, int octets) throws IOException {
        long address = MemorySegment.ofBuffer(buffer).address();
        int sent = 0;
        while (sent < octets) {
            int count = socket.sendAddress(address, sent, octets);
            sent += count;
            if (count == 0) {
                Thread.onSpinWait();
            }
        }
    }

    /**
     * Reads into the buffer, between two positions.
     *
     * @return bytes read; 0 if there are none now
     * @throws EOFException if the peer has closed
     */
    int receive(ByteBuffer buffer, int from, int end) throws IOException {
        int count = socket.recvAddress(MemorySegment.ofBuffer(buffer).address(), from, end);
        if (count < 0) {
            throw new EOFException("the peer has closed");
        }
        return count;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
