// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FpduFlyweightTest {

    @ParameterizedTest(name = "ULPDU of {0} octets: PAD {1}, FPDU {2}")
    @CsvSource({
        "0, 2, 8",
        "1, 1, 8",
        "2, 0, 8",
        "3, 3, 12",
        "14, 0, 20",
        "18, 0, 24",
        "19, 3, 28",
        "20, 2, 28",
        "21, 1, 28",
        "46, 0, 52",
        "64768, 2, 64776",
        "65535, 3, 65544"
    })
    @Requirement({"MPA-4.1-01", "MPA-4.1-02"})
    void padsToAMultipleOfFour(int ulpduLength, int padLength, int fpduLength) {
        assertThat(FpduFlyweight.padLength(ulpduLength)).isEqualTo(padLength);
        assertThat(FpduFlyweight.length(ulpduLength)).isEqualTo(fpduLength);
        assertThat(FpduFlyweight.crcOffset(ulpduLength)).isEqualTo(fpduLength - 4);
    }

    @Test
    @Requirement("MPA-4.1-01")
    void ulpduLengthIsBigEndian() {
        WireBuffer buffer = WireBuffer.allocate(8);

        FpduFlyweight.ulpduLength(buffer, 3, 0xFD02);

        assertThat(buffer.getUnsignedByte(3)).isEqualTo(0xFD);
        assertThat(buffer.getUnsignedByte(4)).isEqualTo(0x02);
        assertThat(FpduFlyweight.ulpduLength(buffer, 3)).isEqualTo(0xFD02);
    }

    @Test
    @Requirement("MPA-4.4-07")
    void crcFieldHasItsLeastSignificantOctetFirst() {
        WireBuffer buffer = WireBuffer.allocate(8);

        FpduFlyweight.crc(buffer, 4, 0xE3069283);

        assertThat(buffer.getInt(4)).isEqualTo(0x839206E3);
        assertThat(FpduFlyweight.crc(buffer, 4)).isEqualTo(0xE3069283);
    }

    @Test
    @Requirement("MPA-4.1-02")
    void padIsZeroAndNothingElseIsTouched() {
        WireBuffer buffer = WireBuffer.allocate(12);
        buffer.putLong(0, -1);
        buffer.putInt(8, -1);

        FpduFlyweight.pad(buffer, 1, 3);

        // ULPDU_Length at 1, ULPDU at 3 to 5, PAD at 6 to 8.
        assertThat(buffer.getLong(0)).isEqualTo(0xFFFFFFFFFFFF0000L);
        assertThat(buffer.getInt(8)).isEqualTo(0x00FFFFFF);
    }
}
