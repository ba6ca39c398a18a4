// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * RDMA Read Request header (RFC 5040 section 4.4), 28 bytes after the untagged DDP header.
 *
 * <pre>
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                     Data Sink STag (SinkSTag)                 |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                  Data Sink Tagged Offset (SinkTO)             |
 *   +                                                               +
 *   |                                                               |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                  RDMA Read Message Size (RDMARDSZ)            |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                     Data Source STag (SrcSTag)                |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                  Data Source Tagged Offset (SrcTO)            |
 *   +                                                               +
 *   |                                                               |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 */
public final class ReadRequestFlyweight {

    public static final int SINK_STAG_OFFSET = 0;
    public static final int SINK_TO_OFFSET = 4;
    public static final int RDMARDSZ_OFFSET = 12;
    public static final int SRC_STAG_OFFSET = 16;
    public static final int SRC_TO_OFFSET = 20;
    /** Bytes of the header. */
    public static final int LENGTH = 28;

    private final WireBuffer buffer;
    private final int offset;

    /** Lies over a buffer from the given offset on. */
    public ReadRequestFlyweight(WireBuffer buffer, int offset) {
        this.buffer = buffer;
        this.offset = offset;
    }

    /** Writes the whole header. */
    public void set(int sinkStag, long sinkTo, long rdmaRdSz, int srcStag, long srcTo) {
        buffer.putInt(offset + SINK_STAG_OFFSET, sinkStag);
        buffer.putLong(offset + SINK_TO_OFFSET, sinkTo);
        buffer.putInt(offset + RDMARDSZ_OFFSET, (int) rdmaRdSz);
        buffer.putInt(offset + SRC_STAG_OFFSET, srcStag);
        buffer.putLong(offset + SRC_TO_OFFSET, srcTo);
    }

    public int sinkStag() {
        return buffer.getInt(offset + SINK_STAG_OFFSET);
    }

    public long sinkTo() {
        return buffer.getLong(offset + SINK_TO_OFFSET);
    }

    /** Bytes to read, 0 to 2^32 - 1. */
    public long rdmaRdSz() {
        return buffer.getInt(offset + RDMARDSZ_OFFSET) & 0xFFFF_FFFFL;
    }

    public int srcStag() {
        return buffer.getInt(offset + SRC_STAG_OFFSET);
    }

    public long srcTo() {
        return buffer.getLong(offset + SRC_TO_OFFSET);
    }
}
