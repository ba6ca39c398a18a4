// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/** Bytes that a seed determines, and checksums of memory. */
public final class Pattern {

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long CHUNK = 1 << 20;

    private Pattern() {}

    public static byte[] bytes(long seed, int length) {
        byte[] octets = new byte[length];
        fill(MemorySegment.ofArray(octets), seed);
        return octets;
    }

    public static void fill(MemorySegment memory, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long words = memory.byteSize() / Long.BYTES;
        for (long i = 0; i < words; i++) {
            memory.set(LONG, i * Long.BYTES, random.nextLong());
        }
        for (long i = words * Long.BYTES; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
    }

    /** CRC-32C of memory of any length. */
    public static long checksum(MemorySegment memory) {
        CRC32C crc = new CRC32C();
        for (long offset = 0; offset < memory.byteSize(); offset += CHUNK) {
            crc.update(memory.asSlice(offset, Math.min(CHUNK, memory.byteSize() - offset))
                    .asByteBuffer());
        }
        return crc.getValue();
    }
}
