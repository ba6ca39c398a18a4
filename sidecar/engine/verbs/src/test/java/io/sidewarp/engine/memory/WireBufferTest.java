// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class WireBufferTest {

    private final WireBuffer buffer = WireBuffer.allocate(16);

    @Test
    void isZeroAtFirst() {
        assertThat(octets(buffer, 0, 16)).containsOnly(0);
    }

    @Test
    void writesFieldsMostSignificantOctetFirst() {
        buffer.putByte(0, 0x81);
        buffer.putShort(1, 0x8283);
        buffer.putInt(3, 0x84858687);
        buffer.putLong(7, 0x88898A8B8C8D8E8FL);

        assertThat(octets(buffer, 0, 15)).isEqualTo(new byte[] {
            (byte) 0x81,
            (byte) 0x82,
            (byte) 0x83,
            (byte) 0x84,
            (byte) 0x85,
            (byte) 0x86,
            (byte) 0x87,
            (byte) 0x88,
            (byte) 0x89,
            (byte) 0x8A,
            (byte) 0x8B,
            (byte) 0x8C,
            (byte) 0x8D,
            (byte) 0x8E,
            (byte) 0x8F
        });
    }

    @Test
    void readsWhatItWroteWithoutASign() {
        buffer.putByte(0, 0xFF);
        buffer.putShort(1, 0xFFFE);
        buffer.putInt(3, 0xFFFFFFFD);
        buffer.putLong(7, -4);

        assertThat(buffer.getUnsignedByte(0)).isEqualTo(0xFF);
        assertThat(buffer.getUnsignedShort(1)).isEqualTo(0xFFFE);
        assertThat(buffer.getInt(3)).isEqualTo(0xFFFFFFFD);
        assertThat(buffer.getLong(7)).isEqualTo(-4);
    }

    @Test
    void copiesOverlappingOctetsOfItself() {
        buffer.putBytes(0, new byte[] {1, 2, 3, 4, 5}, 0, 5);

        buffer.putBytes(2, buffer, 0, 5);

        assertThat(octets(buffer, 0, 8)).containsExactly(1, 2, 1, 2, 3, 4, 5, 0);
    }

    @Test
    void bothViewsShowTheSameOctets() {
        WireBuffer copy = WireBuffer.copyOf(new byte[] {1, 2, 3});

        copy.nio().put(1, (byte) 9);

        assertThat(copy.segment().toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 9, 3);
        assertThat(copy.capacity()).isEqualTo(3);
    }

    @Test
    void doesNotReachBeyondItsEnd() {
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> buffer.putInt(13, 1));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> buffer.putBytes(10, WireBuffer.allocate(7), 0, 7));
    }

    private static byte[] octets(WireBuffer from, int offset, int length) {
        byte[] octets = new byte[length];
        from.getBytes(offset, octets, 0, length);
        return octets;
    }
}
