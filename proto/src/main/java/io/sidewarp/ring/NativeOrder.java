// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

import java.nio.ByteOrder;

/** Words that consist of several fields, in the byte order of the machine. */
final class NativeOrder {

    private static final boolean LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private NativeOrder() {}

    /** Returns the word whose bytes in memory are the arguments, the first one at the lowest address. */
    static int bytes(int first, int second, int third, int fourth) {
        int littleEndian = first & 0xFF | (second & 0xFF) << 8 | (third & 0xFF) << 16 | fourth << 24;
        return LITTLE ? littleEndian : Integer.reverseBytes(littleEndian);
    }

    /** Returns the shift of a byte in a word of 8 bytes in memory. Byte 0 is at the lowest address. */
    static int shiftOfByte(int index) {
        return Byte.SIZE * (LITTLE ? index : Long.BYTES - 1 - index);
    }
}
