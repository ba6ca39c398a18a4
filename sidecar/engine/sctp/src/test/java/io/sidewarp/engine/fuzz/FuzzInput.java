// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import java.util.Arrays;

/** Bytes from a fuzzer, read from the front as a sequence of small decisions. Reads zeros after the end. */
final class FuzzInput {

    private final byte[] data;
    private int at;

    FuzzInput(byte[] data) {
        this.data = data;
    }

    boolean isEmpty() {
        return at >= data.length;
    }

    int octet() {
        return isEmpty() ? 0 : data[at++] & 0xFF;
    }

    /** A number in 0 to bound - 1, of at most 256. */
    int below(int bound) {
        return octet() % bound;
    }

    boolean yes() {
        return (octet() & 1) != 0;
    }

    int word() {
        return octet() << 24 | octet() << 16 | octet() << 8 | octet();
    }

    long longWord() {
        return (long) word() << 32 | (word() & 0xFFFF_FFFFL);
    }

    /** A length: mostly small, at times up to 65535. */
    int length() {
        int first = octet();
        return first < 0xF0 ? first : (first & 0x0F) << 12 | octet() << 4;
    }

    /** Octets as they are, fewer when there are not so many left. */
    byte[] octets(int count) {
        int end = Math.min(data.length, at + count);
        byte[] result = Arrays.copyOfRange(data, Math.min(at, data.length), end);
        at = end;
        return result;
    }

    /** All that is left. */
    byte[] rest() {
        return octets(data.length);
    }
}
