// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * A Marker (RFC 5044 section 4.2, Figure 3) and where Markers stand in a stream (section 4.3).
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *  |           RESERVED            |            FPDUPTR            |
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 *
 * <p>Positions count the bytes of the stream, Markers included, from the first byte of Full Operation. There the
 * first Marker stands, so a Marker begins wherever the position is a multiple of 512; the wrap of TCP's sequence
 * numbers does not matter, because 2^32 is such a multiple too.
 */
public final class MarkerFlyweight {

    /** Bytes of a Marker. */
    public static final int LENGTH = 4;

    /** Bytes from the first byte of a Marker to that of the next. */
    public static final int INTERVAL = 512;

    /** Bytes between two Markers. */
    public static final int GAP = INTERVAL - LENGTH;

    public static final int RESERVED_FIELD_OFFSET = 0;
    public static final int FPDUPTR_FIELD_OFFSET = 2;

    private static final int FPDUPTR_MASK = 0xFFFC;

    private MarkerFlyweight() {}

    /** RESERVED of the Marker at the offset. */
    public static int reserved(WireBuffer buffer, int offset) {
        return buffer.getUnsignedShort(offset + RESERVED_FIELD_OFFSET);
    }

    /** FPDUPTR of the Marker at the offset, its two low bits taken as zero. */
    public static int fpduPtr(WireBuffer buffer, int offset) {
        return buffer.getUnsignedShort(offset + FPDUPTR_FIELD_OFFSET) & FPDUPTR_MASK;
    }

    /**
     * Whether the Marker at the offset points back over the given number of bytes. Only the 16 bits of the field
     * count, which is enough for every FPDU whose ULPDU keeps within 64768 bytes.
     */
    public static boolean pointsBack(WireBuffer buffer, int offset, int octets) {
        return fpduPtr(buffer, offset) == (octets & FPDUPTR_MASK);
    }

    /** Writes a Marker: RESERVED zero, and FPDUPTR. */
    public static void put(WireBuffer buffer, int offset, int fpduPtr) {
        buffer.putInt(offset, fpduPtr & FPDUPTR_MASK);
    }

    /** Bytes from a position to the first byte of the next Marker, 0 to 511. */
    public static int distance(long position) {
        return (int) -position & (INTERVAL - 1);
    }

    /**
     * Markers that belong to an FPDU. One that stands right in front of it does, one that stands right behind it does
     * not.
     *
     * @param position where the FPDU begins, a Marker in front of it included
     * @param fpduLength bytes of the FPDU without Markers
     */
    public static int count(long position, int fpduLength) {
        int distance = distance(position);
        return fpduLength > distance ? (fpduLength - distance - 1) / GAP + 1 : 0;
    }
}
