// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Start-up frames written byte by byte, and helpers of tests for bytes. */
final class Frames {

    static final String REQUEST_KEY = "MPA ID Req Frame";
    static final String REPLY_KEY = "MPA ID Rep Frame";
    static final int M = 0x80;
    static final int C = 0x40;
    static final int R = 0x20;

    private Frames() {}

    static byte[] frame(String key, int flags, int rev, int pdLength, byte[] privateData) {
        ByteArrayOutputStream octets = new ByteArrayOutputStream();
        octets.writeBytes(key.getBytes(StandardCharsets.US_ASCII));
        octets.write(flags);
        octets.write(rev);
        octets.write(pdLength >> 8);
        octets.write(pdLength);
        octets.writeBytes(privateData);
        return octets.toByteArray();
    }

    static byte[] request(int flags, int rev, byte[] privateData) {
        return frame(REQUEST_KEY, flags, rev, privateData.length, privateData);
    }

    static byte[] request(boolean m, boolean c) {
        return request((m ? M : 0) | (c ? C : 0), 1, new byte[0]);
    }

    static byte[] reply(int flags, int rev, byte[] privateData) {
        return frame(REPLY_KEY, flags, rev, privateData.length, privateData);
    }

    static byte[] reply(boolean m, boolean c) {
        return reply((m ? M : 0) | (c ? C : 0), 1, new byte[0]);
    }

    /** Octets written as hexadecimal digits. */
    static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits);
    }

    /** Octets that count upwards. */
    static byte[] numbered(int length, int first) {
        byte[] octets = new byte[length];
        for (int i = 0; i < length; i++) {
            octets[i] = (byte) (first + i);
        }
        return octets;
    }

    static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream octets = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            octets.writeBytes(part);
        }
        return octets.toByteArray();
    }
}
