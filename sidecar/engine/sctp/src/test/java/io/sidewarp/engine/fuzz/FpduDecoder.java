// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/** The receiving half of the peer's MPA. Decodes the stream, and fails if an FPDU violates RFC 5044. */
final class FpduDecoder {

    private static final int CRC_LENGTH = 4;

    private final boolean crc;
    private final boolean markers;
    private final boolean checked;
    private final Consumer<byte[]> onUlpdu;
    private byte[] held = {};
    private long position;

    /** @param checked whether the CRC field is looked at; without CRCs it has to be zero then (section 4.4) */
    FpduDecoder(boolean crc, boolean markers, boolean checked, Consumer<byte[]> onUlpdu) {
        this.crc = crc;
        this.markers = markers;
        this.checked = checked;
        this.onUlpdu = onUlpdu;
    }

    void receive(byte[] octets) {
        byte[] all = Arrays.copyOf(held, held.length + octets.length);
        System.arraycopy(octets, 0, all, held.length, octets.length);
        int at = 0;
        int taken = fpdu(all, at);
        while (taken > 0) {
            at += taken;
            taken = fpdu(all, at);
        }
        held = Arrays.copyOfRange(all, at, all.length);
    }

    /** Returns whether the stream so far ends after a whole FPDU. */
    boolean isComplete() {
        return held.length == 0;
    }

    /** Takes the FPDU at an index; 0 when it is not complete. */
    private int fpdu(byte[] stream, int begin) {
        int lead = markers && position % 512 == 0 ? 4 : 0;
        if (stream.length - begin < lead + 2) {
            return 0;
        }
        int ulpduLength = (stream[begin + lead] & 0xFF) << 8 | (stream[begin + lead + 1] & 0xFF);
        int plain = (2 + ulpduLength + 3) / 4 * 4 + CRC_LENGTH;
        byte[] fpdu = new byte[plain];
        int at = begin;
        if (!markers) {
            if (stream.length - begin < plain) {
                return 0;
            }
            System.arraycopy(stream, begin, fpdu, 0, plain);
            at += plain;
        }
        for (int i = 0; markers && i < plain; i++) {
            if ((position + at - begin) % 512 == 0) {
                if (stream.length - at < 4) {
                    return 0;
                }
                checkMarker(stream, at, i == 0 ? 0 : at - begin - lead);
                at += 4;
            }
            if (at == stream.length) {
                return 0;
            }
            fpdu[i] = stream[at++];
        }
        checkCrc(stream, begin, at);
        position += at - begin;
        onUlpdu.accept(Arrays.copyOfRange(fpdu, 2, 2 + ulpduLength));
        return at - begin;
    }

    private static void checkMarker(byte[] stream, int at, int distance) {
        int reserved = (stream[at] & 0xFF) << 8 | (stream[at + 1] & 0xFF);
        int fpduPtr = (stream[at + 2] & 0xFF) << 8 | (stream[at + 3] & 0xFF);
        Violation.unless(reserved == 0 && fpduPtr == distance, "a Marker points elsewhere");
    }

    private void checkCrc(byte[] stream, int begin, int end) {
        CRC32C value = new CRC32C();
        value.update(stream, begin, end - begin - CRC_LENGTH);
        int expected = crc ? Integer.reverseBytes((int) value.getValue()) : 0;
        int found = 0;
        for (int i = end - CRC_LENGTH; i < end; i++) {
            found = found << 8 | (stream[i] & 0xFF);
        }
        Violation.unless(!checked || found == expected, "an FPDU has a wrong CRC");
    }
}
