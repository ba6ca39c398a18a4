// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.wire;

import java.util.zip.CRC32C;

/**
 * Frames ULPDUs as in the figures of RFC 5044 section 4. Handles one direction of one connection, and counts its bytes,
 * because Markers stand at fixed distances.
 */
public final class FpduEncoder {

    private static final int MARKER_DISTANCE = 512;

    private final boolean crc;
    private final boolean markers;
    private long position;

    public FpduEncoder(boolean crc, boolean markers) {
        this.crc = crc;
        this.markers = markers;
    }

    public byte[] encode(byte[] ulpdu) {
        return encode(ulpdu, ulpdu.length, 0, 0);
    }

    /** Frames a ULPDU with one wrong bit in the CRC. */
    public byte[] encodeWithWrongCrc(byte[] ulpdu) {
        return encode(ulpdu, ulpdu.length, 1, 0);
    }

    /** Frames a ULPDU whose Markers point this number of bytes too far, with a valid CRC. */
    public byte[] encodeWithWrongMarkers(byte[] ulpdu, int shift) {
        return encode(ulpdu, ulpdu.length, 0, shift);
    }

    /** Frames a ULPDU whose header holds another length. */
    public byte[] encodeWithLength(byte[] ulpdu, int ulpduLength) {
        return encode(ulpdu, ulpduLength, 0, 0);
    }

    private byte[] encode(byte[] ulpdu, int ulpduLength, int crcError, int markerShift) {
        Octets unmarked = Octets.begin().u16(ulpduLength).put(ulpdu);
        while (unmarked.length() % 4 != 0) {
            unmarked.u8(0);
        }
        byte[] octets = unmarked.toArray();
        Octets fpdu = Octets.begin();
        addMarker(fpdu, 0, markerShift);
        long begin = position;
        for (int i = 0; i < octets.length; i++) {
            if (i > 0) {
                addMarker(fpdu, position - begin, markerShift);
            }
            fpdu.u8(octets[i]);
            position++;
        }
        addMarker(fpdu, position - begin, markerShift);
        fpdu.u32(Integer.reverseBytes(crc ? crc(fpdu.toArray()) ^ crcError : crcError));
        position += 4;
        return fpdu.toArray();
    }

    private void addMarker(Octets fpdu, long distance, int shift) {
        if (markers && position % MARKER_DISTANCE == 0) {
            fpdu.u16(0).u16((int) distance + shift);
            position += 4;
        }
    }

    private static int crc(byte[] octets) {
        CRC32C crc = new CRC32C();
        crc.update(octets);
        return (int) crc.getValue();
    }
}
