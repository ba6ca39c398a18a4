// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.peer;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.channel.unix.Socket;
import io.sidewarp.bench.end.EndIdentity;
import io.sidewarp.bench.end.Layout;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.engine.net.CongestionControl;
import io.sidewarp.engine.net.NetSettings;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;

/**
 * TLS engine of the JDK over a TCP socket, without MPA. This is the limit of an engine with TLS: the same credentials,
 * cipher suite, lengths of records, congestion control and sizes of buffers, but no FPDUs and no CRCs. Memory is
 * encrypted in place of a copy, and decrypted into memory. Both ends spin.
 */
final class BareTls implements BareStream {

    /** Room that the TLS engine wants for a record. */
    private static final int ROOM = (1 << 14) + 1024;

    private static final int CAPACITY = NetSettings.LARGE_OUTPUT_CAPACITY;
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_CONGESTION = 13;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Socket socket;
    private final SSLEngine engine;
    private final int size;
    private final int length;

    /** Zeros. A record with one other byte ends a run. */
    private final ByteBuffer memory;

    private final ByteBuffer staging = ByteBuffer.allocateDirect(CAPACITY + ROOM);
    private final ByteBuffer outgoing = ByteBuffer.allocate(CAPACITY + ROOM);
    private final ByteBuffer incoming = ByteBuffer.allocate(CAPACITY + ROOM).flip();
    private int position;

    private BareTls(Socket socket, TransferPlan plan, SSLEngine engine) throws IOException {
        this.socket = socket;
        this.engine = engine;
        socket.setTcpNoDelay(true);
        socket.setRawOpt(IPPROTO_TCP, TCP_CONGESTION, ByteBuffer.wrap(CongestionControl.LOCAL.getBytes(US_ASCII)));
        size = plan.size();
        length = Math.toIntExact(new Layout(plan).length()) / size * size;
        // The engine wants more room than the last record of the memory needs.
        memory = ByteBuffer.allocateDirect(length + ROOM);
        shakeHands();
    }

    /** Returns the end that connects. */
    static BareTls active(Socket socket, TransferPlan plan, InetSocketAddress peer) throws IOException {
        return new BareTls(socket, plan, EndIdentity.of(plan.identity()).initiator(peer));
    }

    /** Returns the end that accepts. */
    static BareTls passive(Socket socket, TransferPlan plan) throws IOException {
        return new BareTls(socket, plan, EndIdentity.of(plan.identity()).responder());
    }

    private void shakeHands() throws IOException {
        engine.beginHandshake();
        while (true) {
            HandshakeStatus status = engine.getHandshakeStatus();
            switch (status) {
                case NEED_TASK ->
                    Objects.requireNonNull(engine.getDelegatedTask()).run();
                case NEED_WRAP -> {
                    encrypt(NOTHING);
                    flush();
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> decrypt();
                default -> {
                    return;
                }
            }
        }
    }

    @Override
    public long send(long nanos) throws IOException {
        long begin = System.nanoTime();
        long octets = 0;
        boolean over = false;
        while (!over || octets % size != 0) {
            over = System.nanoTime() - begin >= nanos;
            // The run ends with a whole message.
            long end = octets + (over ? size - octets % size : length);
            while (octets < end && outgoing.position() + ROOM <= CAPACITY) {
                memory.clear()
                        .limit((int) Math.min(length, position + end - octets))
                        .position(position);
                octets += encrypt(memory);
                position = memory.position() % length;
            }
            flush();
        }
        encrypt(ByteBuffer.wrap(new byte[] {1}));
        flush();
        memory.clear();
        while (decrypt() == 0) {
            // Tickets and parts of a record come before the acknowledgement.
        }
        memory.put(0, (byte) 0);
        return octets / size;
    }

    @Override
    public void receive() throws IOException {
        while (true) {
            memory.clear().position(position);
            int octets = decrypt();
            if (octets == 1 && memory.get(position) != 0) {
                encrypt(memory.flip().position(position));
                flush();
                memory.put(position, (byte) 0);
            } else {
                position = (position + octets) % length;
            }
        }
    }

    /** Encrypts up to one record. Returns the number of bytes that it takes. */
    private int encrypt(ByteBuffer source) throws IOException {
        SSLEngineResult result = engine.wrap(source, outgoing);
        if (result.getStatus() != Status.OK) {
            throw new IOException("cannot encrypt: " + result);
        }
        return result.bytesConsumed();
    }

    /** Decrypts up to one record into memory. Returns the number of bytes. */
    private int decrypt() throws IOException {
        SSLEngineResult result = engine.unwrap(incoming, memory);
        if (result.getStatus() == Status.BUFFER_UNDERFLOW) {
            read();
        } else if (result.getStatus() != Status.OK) {
            throw new IOException("cannot decrypt: " + result);
        }
        return result.bytesProduced();
    }

    private void read() throws IOException {
        int count = socket.recv(staging, 0, CAPACITY - incoming.remaining());
        if (count < 0) {
            throw new EOFException("the peer has closed");
        }
        if (count == 0) {
            Thread.onSpinWait();
            return;
        }
        incoming.compact().put(staging.clear().limit(count)).flip();
    }

    private void flush() throws IOException {
        staging.clear().put(outgoing.flip());
        int end = staging.position();
        outgoing.clear();
        int sent = 0;
        while (sent < end) {
            int count = socket.send(staging.clear(), sent, end);
            sent += count;
            if (count == 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
