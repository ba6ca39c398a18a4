// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * Terminate header (RFC 5040 section 4.8). Optional parts follow the fixed word, as HdrCt states. They are the DDP
 * segment length, the terminated DDP header (14 or 18 bytes) and the terminated RDMA Read Request header.
 *
 * <pre>
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   | Layer | EType |  Error Code   |M|D|R|        Reserved         |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |      DDP Segment Length       |                               |
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+                               +
 *   |              Terminated DDP Header, Terminated RDMA Header    |
 *   //                                                             //
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 */
public final class TerminateFlyweight {

    public static final int LAYER_TYPE_OFFSET = 0;
    public static final int CODE_OFFSET = 1;
    public static final int HDRCT_OFFSET = 2;
    public static final int SEGMENT_LENGTH_OFFSET = 4;
    public static final int DDP_HEADER_OFFSET = 6;
    /** Bytes without optional parts. */
    public static final int MIN_LENGTH = 4;
    /** Bytes with all optional parts. */
    public static final int MAX_LENGTH = 6 + 18 + ReadRequestFlyweight.LENGTH;

    /** M: the DDP Segment Length is valid. */
    public static final int M_FLAG = 0x80;
    /** D: DDP Segment Length and terminated DDP header are present. */
    public static final int D_FLAG = 0x40;
    /** R: the terminated RDMA header is present. */
    public static final int R_FLAG = 0x20;

    private static final int HDRCT_MASK = M_FLAG | D_FLAG | R_FLAG;
    private static final int RESERVED_OFFSET = 3;
    private static final int SIW_M_AND_D = 0x03;
    private static final int SIW_R = 0x04;

    private final WireBuffer buffer;

    /** Lies over a buffer from its first byte on. */
    public TerminateFlyweight(WireBuffer buffer) {
        this.buffer = buffer;
    }

    /** Writes the fixed word with reserved bits zero. */
    public void set(int layer, int type, int code, int hdrCt) {
        buffer.putByte(LAYER_TYPE_OFFSET, layer << 4 | type);
        buffer.putByte(CODE_OFFSET, code);
        buffer.putShort(HDRCT_OFFSET, hdrCt << 8);
    }

    /** Writes the DDP Segment Length. */
    public void segmentLength(int length) {
        buffer.putShort(SEGMENT_LENGTH_OFFSET, length);
    }

    /**
     * Returns whether the word has the layout that Linux siw uses on little-endian machines. In that layout the nibbles
     * of the first byte are swapped, and the flags are at the low end of the third byte. Flags in reserved bits of the
     * RFC identify the layout: siw sets M and D, or all three flags. Its own reserved bits are zero. Without any flag,
     * an LLP error code identifies the layout, because RDMAP does not use this code with type 0x2.
     */
    private boolean isNibbleSwapped() {
        if (buffer.getUnsignedByte(RESERVED_OFFSET) != 0) {
            return false;
        }
        int flags = buffer.getUnsignedByte(HDRCT_OFFSET);
        if (flags == SIW_M_AND_D || flags == (SIW_M_AND_D | SIW_R)) {
            return true;
        }
        int code = code();
        return flags == 0 && buffer.getUnsignedByte(LAYER_TYPE_OFFSET) == 0x02 && code >= 1 && code <= 4;
    }

    public int layer() {
        int octet = buffer.getUnsignedByte(LAYER_TYPE_OFFSET);
        return isNibbleSwapped() ? octet & 0x0F : octet >>> 4;
    }

    public int type() {
        int octet = buffer.getUnsignedByte(LAYER_TYPE_OFFSET);
        return isNibbleSwapped() ? octet >>> 4 : octet & 0x0F;
    }

    public int code() {
        return buffer.getUnsignedByte(CODE_OFFSET);
    }

    /** Returns M, D and R as {@link #M_FLAG}, {@link #D_FLAG} and {@link #R_FLAG}. */
    public int hdrCt() {
        int octet = buffer.getUnsignedByte(HDRCT_OFFSET);
        if (!isNibbleSwapped()) {
            return octet & HDRCT_MASK;
        }
        return octet == 0 ? 0 : M_FLAG | D_FLAG | ((octet & SIW_R) != 0 ? R_FLAG : 0);
    }
}
