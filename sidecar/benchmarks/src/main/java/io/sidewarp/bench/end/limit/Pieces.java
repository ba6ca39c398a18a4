// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end.limit;

import io.sidewarp.bench.end.Layout;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.engine.net.NetSettings;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Pieces of a stream, all of one length. Each piece has a header, a part of a message and a CRC. The header says
 * whether the piece is the last one of a run. Not thread-safe; allocates nothing after construction.
 */
final class Pieces {

    /** Bytes of the passive end's acknowledgement of a run. */
    static final int ACKNOWLEDGEMENT = 1;

    /** Length of a header: as long as the length of an FPDU and the header of a tagged segment. */
    private static final int HEADER = 16;

    private static final int CRC = 4;

    /** Maximum payload of a piece, about that of an FPDU. */
    private static final int LARGEST_PAYLOAD = 64 * 1024;

    private final int payload;
    private final int messageLength;
    private final Layout layout;
    private final boolean checked;
    private final CRC32C crc = new CRC32C();
    private final MemorySegment memory;
    private long next;

    Pieces(TransferPlan plan) {
        messageLength = plan.size();
        payload = Math.min(messageLength, LARGEST_PAYLOAD);
        if (messageLength % payload != 0) {
            throw new IllegalArgumentException("a message of " + messageLength + " bytes is no multiple of " + payload);
        }
        layout = new Layout(plan);
        checked = plan.crc();
        memory = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(Math.toIntExact(layout.length())));
        memory.fill((byte) 1);
    }

    /** Returns the number of pieces of a message. */
    int perMessage() {
        return messageLength / payload;
    }

    int length() {
        return HEADER + payload + CRC;
    }

    /** Returns a buffer of whole pieces to write to a socket. */
    ByteBuffer outputBuffer() {
        return buffer(NetSettings.LARGE_OUTPUT_CAPACITY);
    }

    /** Returns a buffer of whole pieces to read into. */
    ByteBuffer inputBuffer() {
        return buffer(NetSettings.defaults().stagingCapacity());
    }

    private ByteBuffer buffer(int octets) {
        return ByteBuffer.allocateDirect(Math.max(1, octets / length()) * length());
    }

    /** Writes a piece with the next bytes of memory. */
    void write(ByteBuffer target, MemorySegment targetMemory, int offset, boolean last) {
        target.putInt(offset, last ? 1 : 0);
        MemorySegment.copy(memory, nextOffset(), targetMemory, offset + HEADER, payload);
        if (checked) {
            target.putInt(offset + HEADER + payload, of(target, offset));
        }
    }

    /**
     * Checks a piece and copies it into memory.
     *
     * @return whether the piece is the last one of a run
     */
    boolean read(ByteBuffer source, MemorySegment sourceMemory, int offset) throws IOException {
        if (checked && source.getInt(offset + HEADER + payload) != of(source, offset)) {
            throw new IOException("a piece arrived that has another CRC");
        }
        MemorySegment.copy(sourceMemory, offset + HEADER, memory, nextOffset(), payload);
        return source.getInt(offset) != 0;
    }

    private int of(ByteBuffer buffer, int offset) {
        buffer.limit(offset + HEADER + payload).position(offset);
        crc.reset();
        crc.update(buffer);
        buffer.clear();
        return (int) crc.getValue();
    }

    private long nextOffset() {
        long piece = next++;
        return layout.slot(0, piece / perMessage()) + piece % perMessage() * payload;
    }
}
