// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.wire;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;

/** Bytes in network order, written one field after the other. */
public final class Octets {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    public static Octets begin() {
        return new Octets();
    }

    public Octets u8(int value) {
        out.write(value);
        return this;
    }

    public Octets u16(int value) {
        return u8(value >>> 8).u8(value);
    }

    public Octets u32(int value) {
        return u16(value >>> 16).u16(value);
    }

    public Octets u64(long value) {
        return u32((int) (value >>> 32)).u32((int) value);
    }

    public Octets put(byte[] octets) {
        out.writeBytes(octets);
        return this;
    }

    public Octets put(byte[] octets, int offset, int length) {
        out.write(octets, offset, length);
        return this;
    }

    /** Octets as text, for instance {@code "11 00 C0 00"}. */
    public Octets hex(String text) {
        return put(HexFormat.of().parseHex(text.replace(" ", "")));
    }

    public int length() {
        return out.size();
    }

    public byte[] toArray() {
        return out.toByteArray();
    }

    /** Returns the bytes as text, for comparison with a specification. */
    public static String text(byte[] octets) {
        return HexFormat.ofDelimiter(" ").withUpperCase().formatHex(octets);
    }
}
