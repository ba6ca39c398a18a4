// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.wire;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;

/** Decodes FPDUs and checks each of them: Markers, padding, CRC. Handles one direction of one connection. */
public final class FpduDecoder {

    private static final int MARKER_DISTANCE = 512;

    private final InputStream in;
    private final boolean crc;
    private final boolean markers;
    private boolean checksPadding = true;
    private final CRC32C sum = new CRC32C();
    private long position;
    private long begin;

    public FpduDecoder(InputStream in, boolean crc, boolean markers) {
        this.in = in;
        this.crc = crc;
        this.markers = markers;
    }

    /** Accepts any padding, as a receiver must (RFC 5044 section 4.1). */
    public FpduDecoder ignoringPadding() {
        checksPadding = false;
        return this;
    }

    /** The next ULPDU, or nothing when the peer closed its direction between FPDUs. */
    public Optional<byte[]> next() throws IOException {
        sum.reset();
        begin = -1;
        int first = in.read();
        if (first < 0) {
            return Optional.empty();
        }
        if (markers && position % MARKER_DISTANCE == 0) {
            checkMarker(new byte[] {(byte) first, (byte) octet(), (byte) octet(), (byte) octet()});
            first = octet();
        }
        begin = position;
        byte[] length = {(byte) first, 0};
        sum.update(first);
        position++;
        read(length, 1);
        byte[] ulpdu = new byte[(length[0] & 0xFF) << 8 | length[1] & 0xFF];
        read(ulpdu, 0);
        byte[] pad = new byte[-(2 + ulpdu.length) & 3];
        read(pad, 0);
        if (checksPadding && !Arrays.equals(pad, new byte[pad.length])) {
            throw new IOException("padding is not zero");
        }
        skipMarker();
        checkCrc();
        return Optional.of(ulpdu);
    }

    private void read(byte[] target, int from) throws IOException {
        for (int i = from; i < target.length; i++) {
            skipMarker();
            target[i] = (byte) octet();
            sum.update(target[i]);
            position++;
        }
    }

    private void skipMarker() throws IOException {
        if (markers && position % MARKER_DISTANCE == 0) {
            checkMarker(new byte[] {(byte) octet(), (byte) octet(), (byte) octet(), (byte) octet()});
        }
    }

    private void checkMarker(byte[] marker) throws IOException {
        long distance = begin < 0 ? 0 : position - begin;
        byte[] expected = Octets.begin().u16(0).u16((int) distance).toArray();
        if (!Arrays.equals(marker, expected)) {
            throw new IOException(
                    "Marker " + Octets.text(marker) + " at " + position + " where the FPDU is at " + begin);
        }
        sum.update(marker);
        position += marker.length;
    }

    private void checkCrc() throws IOException {
        int received = 0;
        for (int i = 0; i < 4; i++) {
            received |= octet() << 8 * i;
            position++;
        }
        if (crc && received != (int) sum.getValue()) {
            throw new IOException("CRC is %08x, not %08x".formatted(received, sum.getValue()));
        }
    }

    private int octet() throws IOException {
        int octet = in.read();
        if (octet < 0) {
            throw new EOFException("the connection ended inside of an FPDU");
        }
        return octet;
    }
}
