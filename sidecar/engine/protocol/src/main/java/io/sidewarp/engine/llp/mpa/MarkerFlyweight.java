// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * A Marker (RFC 5044 section 4.2, Figure 3) and the places of Markers in a stream (section 4.3).
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *  |           RESERVED            |            FPDUPTR            |
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 *
 * <p>Positions count the bytes of the stream, including Markers, from the first byte of Full Operation. The first
 * Marker stands at position 0, so a Marker begins at every multiple of 512. The wrap of TCP's sequence numbers does not
 * matter, because 2^32 is a multiple of 512 too.
 */
public final class MarkerFlyweight {

    /** Bytes of a Marker. */
    public static final int LENGTH = 4;

    /** Bytes from the first byte of a Marker to the first byte of the next Marker. */
    public static final int INTERVAL = 512;

    /** Bytes between two Markers. */
    public static final int GAP = INTERVAL - LENGTH;

    public static final int RESERVED_FIELD_OFFSET = 0;
    public static final int FPDUPTR_FIELD_OFFSET = 2;

    private static final int FPDUPTR_MASK = 0xFFFC;

    private MarkerFlyweight() {}

    /** Returns the RESERVED field of the Marker at the offset. */
    public static int reserved(WireBuffer buffer, int offset) {
        return buffer.getUnsignedShort(offset + RESERVED_FIELD_OFFSET);
    }

    /** Returns the FPDUPTR field of the Marker at the offset, with its two low bits read as zero. */
    public static int fpduPtr(WireBuffer buffer, int offset) {
        return buffer.getUnsignedShort(offset + FPDUPTR_FIELD_OFFSET) & FPDUPTR_MASK;
    }

    /**
     * Returns whether the Marker at the offset points back over the given number of bytes. Only the 16 bits of the
     * field are compared, which is enough for every FPDU with a ULPDU of at most 64768 bytes.
     */
    public static boolean pointsBack(WireBuffer buffer, int offset, int octets) {
        return fpduPtr(buffer, offset) == (octets & FPDUPTR_MASK);
    }

    /** Writes a Marker with a RESERVED field of zero and the given FPDUPTR. */
    public static void put(WireBuffer buffer, int offset, int fpduPtr) {
        buffer.putInt(offset, fpduPtr & FPDUPTR_MASK);
    }

    /** Returns the bytes from a position to the first byte of the next Marker, 0 to 511. */
    public static int distance(long position) {
        return (int) -position & (INTERVAL - 1);
    }

    /**
     * Returns the number of Markers that belong to an FPDU. A Marker directly before the FPDU belongs to it. A Marker
     * directly after the FPDU does not.
     *
     * @param position position where the FPDU begins, or the Marker directly before it
     * @param fpduLength bytes of the FPDU without Markers
     */
    public static int count(long position, int fpduLength) {
        int distance = distance(position);
        return fpduLength > distance ? (fpduLength - distance - 1) / GAP + 1 : 0;
    }
}
