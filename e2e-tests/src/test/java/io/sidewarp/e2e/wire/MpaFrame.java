// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.wire;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * An MPA start-up frame (RFC 5044 section 7.1.1).
 *
 * @param key 16 ASCII characters
 * @param flags byte with M, C, R and the reserved bits
 */
public record MpaFrame(String key, int flags, int revision, byte[] privateData) {

    public static final String REQUEST_KEY = "MPA ID Req Frame";
    public static final String REPLY_KEY = "MPA ID Rep Frame";
    public static final int MARKERS = 0x80;
    public static final int CRC = 0x40;
    public static final int REJECT = 0x20;

    public static MpaFrame request(int flags, byte[] privateData) {
        return new MpaFrame(REQUEST_KEY, flags, 1, privateData);
    }

    public static MpaFrame reply(int flags, byte[] privateData) {
        return new MpaFrame(REPLY_KEY, flags, 1, privateData);
    }

    public boolean has(int flag) {
        return (flags & flag) != 0;
    }

    public byte[] encode() {
        return encode(privateData.length);
    }

    /** Returns the encoded frame with the given PD_Length, which may differ from the length of the private data. */
    public byte[] encode(int privateDataLength) {
        return Octets.begin()
                .put(key.getBytes(StandardCharsets.US_ASCII))
                .u8(flags)
                .u8(revision)
                .u16(privateDataLength)
                .put(privateData)
                .toArray();
    }

    public static MpaFrame read(InputStream in) throws IOException {
        DataInputStream data = new DataInputStream(in);
        byte[] key = new byte[16];
        data.readFully(key);
        int flags = data.readUnsignedByte();
        int revision = data.readUnsignedByte();
        byte[] privateData = new byte[data.readUnsignedShort()];
        data.readFully(privateData);
        return new MpaFrame(new String(key, StandardCharsets.US_ASCII), flags, revision, privateData);
    }
}
