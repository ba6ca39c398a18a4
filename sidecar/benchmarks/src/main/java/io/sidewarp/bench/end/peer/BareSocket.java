// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.peer;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.channel.unix.Socket;
import io.sidewarp.bench.end.Layout;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.engine.net.CongestionControl;
import io.sidewarp.engine.net.NetSettings;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * A TCP socket, and memory that is sent and received over it in pieces of one length. Each piece has a header, a part of
 * a message and a CRC. The header says whether the piece is the last one of a run. Allocates nothing after construction.
 *
 * <p>This is the limit of an engine: a stream with only the work on each byte that RFC 5044 requires. The sender copies
 * memory into a buffer, computes the CRC of the buffer, and writes the buffer to the socket. The copy is needed since
 * memory may change meanwhile. The receiver reads into a buffer, checks the CRC, and copies the buffer into memory.
 * Congestion control is that of the engine on loopback; buffers and pieces are about as large. Both ends spin.
 */
final class BareSocket implements BareStream {

    /** Bytes of the passive end's acknowledgement of a run. */
    private static final ByteBuffer ACKNOWLEDGEMENT = ByteBuffer.allocateDirect(1);

    /** Length of a header: as long as the length of an FPDU and the header of a tagged segment. */
    private static final int HEADER = 16;

    private static final int CRC = 4;

    /** Maximum payload of a piece, about that of an FPDU. */
    private static final int LARGEST_PAYLOAD = 64 * 1024;

    private static final int IPPROTO_TCP = 6;
    private static final int TCP_CONGESTION = 13;

    private final Socket socket;
    private final int payload;
    private final int perMessage;
    private final int length;
    private final boolean checked;
    private final Layout layout;
    private final MemorySegment memory;
    private final ByteBuffer buffer;
    private final MemorySegment bufferMemory;
    private final CRC32C crc = new CRC32C();
    private long pieces;

    /** @param socket socket that {@link #close} closes */
    BareSocket(Socket socket, TransferPlan plan) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setRawOpt(IPPROTO_TCP, TCP_CONGESTION, ByteBuffer.wrap(CongestionControl.LOCAL.getBytes(US_ASCII)));
        payload = Math.min(plan.size(), LARGEST_PAYLOAD);
        perMessage = plan.size() / payload;
        if (plan.size() % payload != 0) {
            throw new IllegalArgumentException("a message of " + plan.size() + " bytes is no multiple of " + payload);
        }
        length = HEADER + payload + CRC;
        checked = plan.crc();
        layout = new Layout(plan);
        memory = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(Math.toIntExact(layout.length())));
        memory.fill((byte) 1);
        buffer = ByteBuffer.allocateDirect(Math.max(1, NetSettings.LARGE_OUTPUT_CAPACITY / length) * length);
        bufferMemory = MemorySegment.ofBuffer(buffer);
    }

    @Override
    public long send(long nanos) throws IOException {
        long begin = System.nanoTime();
        long first = pieces;
        boolean last = false;
        while (!last) {
            boolean over = System.nanoTime() - begin >= nanos;
            int end = 0;
            while (!last && end < buffer.capacity()) {
                // The run ends with a whole message.
                last = over && (pieces + 1) % perMessage == 0;
                put(end, last);
                end += length;
            }
            write(bufferMemory.address(), end);
        }
        while (read(MemorySegment.ofBuffer(ACKNOWLEDGEMENT).address(), 0, 1) == 0) {
            Thread.onSpinWait();
        }
        return (pieces - first) / perMessage;
    }

    @Override
    public void receive() throws IOException {
        int begin = 0;
        int end = 0;
        while (true) {
            end += read(bufferMemory.address(), end, buffer.capacity());
            while (end - begin >= length) {
                if (take(begin)) {
                    write(MemorySegment.ofBuffer(ACKNOWLEDGEMENT).address(), 1);
                }
                begin += length;
            }
            if (begin == end) {
                begin = 0;
                end = 0;
            }
        }
    }

    /** Puts the next bytes of memory into the buffer. */
    private void put(int offset, boolean last) {
        buffer.putInt(offset, last ? 1 : 0);
        MemorySegment.copy(memory, nextOffset(), bufferMemory, offset + HEADER, payload);
        if (checked) {
            buffer.putInt(offset + HEADER + payload, crc(offset));
        }
    }

    /** Checks a piece and copies it into memory. Returns whether the piece is the last one of a run. */
    private boolean take(int offset) throws IOException {
        if (checked && buffer.getInt(offset + HEADER + payload) != crc(offset)) {
            throw new IOException("a piece arrived that has another CRC");
        }
        MemorySegment.copy(bufferMemory, offset + HEADER, memory, nextOffset(), payload);
        return buffer.getInt(offset) != 0;
    }

    private int crc(int offset) {
        buffer.limit(offset + HEADER + payload).position(offset);
        crc.reset();
        crc.update(buffer);
        buffer.clear();
        return (int) crc.getValue();
    }

    private long nextOffset() {
        long piece = pieces++;
        return layout.slot(0, piece / perMessage) + piece % perMessage * payload;
    }

    private void write(long address, int end) throws IOException {
        int sent = 0;
        while (sent < end) {
            int count = socket.sendAddress(address, sent, end);
            sent += count;
            if (count == 0) {
                Thread.onSpinWait();
            }
        }
    }

    private int read(long address, int from, int end) throws IOException {
        int count = socket.recvAddress(address, from, end);
        if (count < 0) {
            throw new EOFException("the peer has closed");
        }
        if (count == 0) {
            Thread.onSpinWait();
        }
        return count;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
