// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** The sending half of the peer's MPA. Makes FPDUs by RFC 5044 sections 4.1 to 4.4, or invalid ones on request. */
final class FpduEncoder {

    /** Kinds of damage to an FPDU. */
    enum Damage {
        NONE,
        CRC,
        LENGTH,
        MARKER,
        PAD
    }

    private final boolean crc;
    private final boolean markers;
    private long position;

    FpduEncoder(boolean crc, boolean markers) {
        this.crc = crc;
        this.markers = markers;
    }

    byte[] encode(byte[] ulpdu, Damage damage) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(ulpdu.length + ulpdu.length / 64 + 64);
        long begin = position;
        if (markerDue()) {
            marker(out, 0);
        }
        int length = ulpdu.length + (damage == Damage.LENGTH ? 1 : 0);
        byte[] padded = new byte[(2 + ulpdu.length + 3) / 4 * 4];
        padded[0] = (byte) (length >> 8);
        padded[1] = (byte) length;
        System.arraycopy(ulpdu, 0, padded, 2, ulpdu.length);
        Arrays.fill(padded, 2 + ulpdu.length, padded.length, (byte) (damage == Damage.PAD ? 0xFF : 0));
        if (markers) {
            long header = position;
            for (byte octet : padded) {
                put(out, octet, header, damage);
            }
            if (markerDue()) {
                marker(out, (int) (position - header));
            }
        } else {
            out.writeBytes(padded);
        }
        CRC32C value = new CRC32C();
        value.update(out.toByteArray());
        int field = Integer.reverseBytes((int) value.getValue()) ^ (damage == Damage.CRC ? 1 : 0);
        for (int shift = 24; shift >= 0; shift -= 8) {
            out.write(crc ? field >> shift : 0);
        }
        position = begin + out.size();
        return out.toByteArray();
    }

    private void put(ByteArrayOutputStream out, int octet, long header, Damage damage) {
        if (markerDue()) {
            marker(out, (int) (position - header) ^ (damage == Damage.MARKER ? 8 : 0));
        }
        out.write(octet);
        position++;
    }

    private boolean markerDue() {
        return markers && position % 512 == 0;
    }

    private void marker(ByteArrayOutputStream out, int fpduPtr) {
        out.write(0);
        out.write(0);
        out.write(fpduPtr >> 8);
        out.write(fpduPtr);
        position += 4;
    }
}
