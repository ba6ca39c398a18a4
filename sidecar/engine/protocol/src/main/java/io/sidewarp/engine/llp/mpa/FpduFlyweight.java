// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.memory.WireBuffer;

/**
 * Layout of an FPDU (RFC 5044 section 4.1, Figure 2). The figure and all lengths leave out Markers.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *  |          ULPDU_Length         |                               |
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+                               +
 *  ~                            ULPDU                              ~
 *  |                               +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                               |        PAD (0-3 bytes)        |
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *  |                              CRC                              |
 *  +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * </pre>
 *
 * <p>Only the CRC field has another byte order: least significant byte first, as in iSCSI.
 */
public final class FpduFlyweight {

    public static final int ULPDU_LENGTH_FIELD_OFFSET = 0;
    public static final int ULPDU_LENGTH_FIELD_LENGTH = 2;
    public static final int ULPDU_OFFSET = 2;
    public static final int CRC_FIELD_LENGTH = 4;

    /** FPDUs are an integral multiple of this many bytes. */
    public static final int ALIGNMENT = 4;

    /** The largest ULPDU that DDP may hand over, in bytes (RFC 5044 section 3). */
    public static final int MAX_ULPDU_LENGTH = 64768;

    private FpduFlyweight() {}

    /** Returns the bytes of PAD after a ULPDU. */
    public static int padLength(int ulpduLength) {
        return -(ULPDU_LENGTH_FIELD_LENGTH + ulpduLength) & (ALIGNMENT - 1);
    }

    /** Returns the bytes of the whole FPDU of a ULPDU, without Markers. */
    public static int length(int ulpduLength) {
        return crcOffset(ulpduLength) + CRC_FIELD_LENGTH;
    }

    /** Returns the offset of the CRC field in the FPDU of a ULPDU, without Markers. */
    public static int crcOffset(int ulpduLength) {
        return ULPDU_LENGTH_FIELD_LENGTH + ulpduLength + padLength(ulpduLength);
    }

    /** Returns the ULPDU_Length of the FPDU at the offset. */
    public static int ulpduLength(WireBuffer buffer, int fpduOffset) {
        return buffer.getUnsignedShort(fpduOffset + ULPDU_LENGTH_FIELD_OFFSET);
    }

    /** Writes the ULPDU_Length of the FPDU at the offset. */
    public static void ulpduLength(WireBuffer buffer, int fpduOffset, int value) {
        buffer.putShort(fpduOffset + ULPDU_LENGTH_FIELD_OFFSET, value);
    }

    /** Writes the PAD after a ULPDU of the given length. */
    public static void pad(WireBuffer buffer, int fpduOffset, int ulpduLength) {
        int padOffset = fpduOffset + ULPDU_OFFSET + ulpduLength;
        for (int i = padLength(ulpduLength) - 1; i >= 0; i--) {
            buffer.putByte(padOffset + i, 0);
        }
    }

    /** Returns the CRC field at the offset. */
    public static int crc(WireBuffer buffer, int crcOffset) {
        return Integer.reverseBytes(buffer.getInt(crcOffset));
    }

    /** Writes the CRC field at the offset. */
    public static void crc(WireBuffer buffer, int crcOffset, int value) {
        buffer.putInt(crcOffset, Integer.reverseBytes(value));
    }
}
