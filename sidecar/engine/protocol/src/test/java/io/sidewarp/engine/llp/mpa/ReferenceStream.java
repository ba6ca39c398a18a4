// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import java.io.ByteArrayOutputStream;
import java.util.Random;

/**
 * Builds a stream of Full Operation one byte at a time, directly from the words of RFC 5044 sections 4.1 to 4.4. It is
 * slow, and does not use the code under test.
 */
final class ReferenceStream {

    private final ByteArrayOutputStream stream = new ByteArrayOutputStream();
    private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
    private final boolean crc;
    private final boolean markers;
    private long position;

    ReferenceStream(boolean crc, boolean markers) {
        this(crc, markers, 0);
    }

    ReferenceStream(boolean crc, boolean markers, long position) {
        this.crc = crc;
        this.markers = markers;
        this.position = position;
    }

    /** The octets of one stream with these ULPDUs. */
    static byte[] of(boolean crc, boolean markers, byte[]... ulpdus) {
        ReferenceStream stream = new ReferenceStream(crc, markers);
        for (byte[] ulpdu : ulpdus) {
            stream.fpdu(ulpdu);
        }
        return stream.toByteArray();
    }

    /** Adds the FPDU of a ULPDU. */
    ReferenceStream fpdu(byte[] ulpdu) {
        octets.reset();
        if (markerDue()) {
            marker(0);
        }
        long header = position;
        put(ulpdu.length >> 8, header);
        put(ulpdu.length, header);
        for (byte octet : ulpdu) {
            put(octet, header);
        }
        for (int unpadded = 2 + ulpdu.length; unpadded % 4 != 0; unpadded++) {
            put(0, header);
        }
        if (markerDue()) {
            marker((int) (position - header));
        }
        byte[] covered = octets.toByteArray();
        int value = crc ? crc32c(covered, 0, covered.length) : 0;
        for (int shift = 0; shift < 32; shift += 8) {
            put(value >> shift, header);
        }
        stream.writeBytes(octets.toByteArray());
        return this;
    }

    long position() {
        return position;
    }

    byte[] toByteArray() {
        return stream.toByteArray();
    }

    /** The octets of an FPDU with its CRC field made right again after somebody changed it. */
    static byte[] withCrc(byte[] fpdu) {
        int crcOffset = fpdu.length - 4;
        int value = crc32c(fpdu, 0, crcOffset);
        for (int i = 0; i < 4; i++) {
            fpdu[crcOffset + i] = (byte) (value >> (8 * i));
        }
        return fpdu;
    }

    /** CRC32c bit by bit: reflected polynomial 0x1EDC6F41, initial value and final XOR all ones. */
    static int crc32c(byte[] data, int from, int to) {
        int value = ~0;
        for (int i = from; i < to; i++) {
            value ^= data[i] & 0xFF;
            for (int bit = 0; bit < 8; bit++) {
                value = (value & 1) == 0 ? value >>> 1 : value >>> 1 ^ 0x82F63B78;
            }
        }
        return ~value;
    }

    /** A ULPDU of random octets. */
    static byte[] ulpdu(Random random, int length) {
        byte[] ulpdu = new byte[length];
        random.nextBytes(ulpdu);
        return ulpdu;
    }

    private void put(int octet, long header) {
        if (markerDue()) {
            marker((int) (position - header));
        }
        octets.write(octet);
        position++;
    }

    private boolean markerDue() {
        return markers && position % 512 == 0;
    }

    private void marker(int fpduPtr) {
        octets.write(0);
        octets.write(0);
        octets.write(fpduPtr >> 8);
        octets.write(fpduPtr);
        position += 4;
    }
}
