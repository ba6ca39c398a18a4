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
 * What the stream is made of: pieces of one length, each with a header that says whether it is the last one of a run, a part of
 * a message and a CRC. Not thread-safe; allocates nothing once it exists.
 */
final class Pieces {

    /** Octets of the one with which the passive end acknowledges a run. */
    static final int ACKNOWLEDGEMENT = 1;

    /** As long as the length of an FPDU and the header of a tagged segment. */
    private static final int HEADER = 16;

    private static final int CRC = 4;

    /** About as much of a message as an FPDU has. */
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
            throw new IllegalArgumentException(
                    "a message of " + messageLength + " octets is no multiple of " + payload);
        }
        layout = new Layout(plan);
        checked = plan.crc();
        memory = MemorySegment.ofBuffer(ByteBuffer.allocateDirect(Math.toIntExact(layout.length())));
        memory.fill((byte) 1);
    }

    /** Pieces of a message. */
    int perMessage() {
        return messageLength / payload;
    }

    int length() {
        return HEADER + payload + CRC;
    }

    /** A buffer of whole pieces to give to a socket. */
    ByteBuffer outputBuffer() {
        return buffer(NetSettings.LARGE_OUTPUT_CAPACITY);
    }

    /** A buffer of whole pieces to read into. */
    ByteBuffer inputBuffer() {
        return buffer(NetSettings.defaults().stagingCapacity());
    }

    private ByteBuffer buffer(int octets) {
        return ByteBuffer.allocateDirect(Math.max(1, octets / length()) * length());
    }

    /** Makes a piece of the next octets in memory. */
    void write(ByteBuffer target, MemorySegment targetMemory, int offset, boolean last) {
        target.putInt(offset, last ? 1 : 0);
        MemorySegment.copy(memory, nextOffset(), targetMemory, offset + HEADER, payload);
        if (checked) {
            target.putInt(offset + HEADER + payload, of(target, offset));
        }
    }

    /**
     * Puts a piece into memory, if it is intact.
     *
     * @return whether it is the last one of a run
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
