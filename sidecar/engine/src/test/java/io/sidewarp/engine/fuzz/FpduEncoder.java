// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import java.io.ByteArrayOutputStream;
import java.util.zip.CRC32C;

/** The peer's sending half of MPA: makes FPDUs by RFC 5044 sections 4.1 to 4.4, or wrong ones on request. */
final class FpduEncoder {

    /** What is wrong with an FPDU. */
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
        ByteArrayOutputStream out = new ByteArrayOutputStream(ulpdu.length + 64);
        long begin = position;
        if (markerDue()) {
            marker(out, 0);
        }
        long header = position;
        int wrong = damage == Damage.LENGTH ? 1 : 0;
        put(out, ulpdu.length >> 8, header, damage);
        put(out, ulpdu.length + wrong, header, damage);
        for (byte octet : ulpdu) {
            put(out, octet, header, damage);
        }
        for (int length = 2 + ulpdu.length; length % 4 != 0; length++) {
            put(out, damage == Damage.PAD ? 0xFF : 0, header, damage);
        }
        if (markerDue()) {
            marker(out, (int) (position - header));
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
