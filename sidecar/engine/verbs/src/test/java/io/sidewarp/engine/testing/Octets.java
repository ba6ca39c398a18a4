// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.memory.WireBuffer;
import java.util.HexFormat;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Bytes as tests write them down. */
public final class Octets {

    private Octets() {}

    /** Octets from hexadecimal digits; blanks between them are for the reader. */
    public static byte[] hex(String... parts) {
        return HexFormat.of().parseHex(String.join("", parts).replaceAll("\\s", ""));
    }

    /** Octets as hexadecimal digits, with a blank between octets. */
    public static String show(byte[] octets) {
        return HexFormat.ofDelimiter(" ").formatHex(octets);
    }

    /** Several arrays, one behind the other. */
    public static byte[] join(byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        byte[] result = new byte[length];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, result, at, part.length);
            at += part.length;
        }
        return result;
    }

    /** Octets that look random and depend on the seed alone. */
    public static byte[] pattern(int length, long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        byte[] result = new byte[length];
        random.nextBytes(result);
        return result;
    }

    /** A copy of a part of a buffer. */
    public static byte[] of(WireBuffer buffer, int offset, int length) {
        byte[] result = new byte[length];
        buffer.getBytes(offset, result, 0, length);
        return result;
    }
}
