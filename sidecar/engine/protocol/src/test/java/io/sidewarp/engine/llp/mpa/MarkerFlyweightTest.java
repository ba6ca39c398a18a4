// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MarkerFlyweightTest {

    @Test
    @Requirement("MPA-4.2-01")
    void writesZerosAndThePointer() {
        WireBuffer buffer = WireBuffer.allocate(8);
        buffer.putLong(0, -1);

        MarkerFlyweight.put(buffer, 4, 0x1234);

        assertThat(buffer.getLong(0)).isEqualTo(0xFFFFFFFF00001234L);
    }

    @Test
    @Requirement("MPA-4.2-02")
    void theTwoLowBitsOfThePointerCountAsZero() {
        WireBuffer buffer = WireBuffer.allocate(4);
        buffer.putInt(0, 0xABCD0017);

        assertThat(MarkerFlyweight.fpduPtr(buffer, 0)).isEqualTo(0x14);
        assertThat(MarkerFlyweight.reserved(buffer, 0)).isEqualTo(0xABCD);
        assertThat(MarkerFlyweight.pointsBack(buffer, 0, 0x14)).isTrue();
        assertThat(MarkerFlyweight.pointsBack(buffer, 0, 0x18)).isFalse();
    }

    @Test
    @Requirement("MPA-4.2-02")
    void theTwoLowBitsOfThePointerAreSentAsZero() {
        WireBuffer buffer = WireBuffer.allocate(4);

        MarkerFlyweight.put(buffer, 0, 0x17);

        assertThat(buffer.getInt(0)).isEqualTo(0x14);
    }

    @ParameterizedTest(name = "at position {0} the next Marker is {1} octets away")
    @CsvSource({
        "0, 0",
        "4, 508",
        "508, 4",
        "511, 1",
        "512, 0",
        "516, 508",
        // Across the wrap of a 32-bit sequence number.
        "4294967040, 256",
        "4294967292, 4",
        "4294967296, 0",
        "4294967300, 508"
    })
    @Requirement("MPA-4.3-02")
    void markersStandAtMultiplesOf512(long position, int distance) {
        assertThat(MarkerFlyweight.distance(position)).isEqualTo(distance);
    }

    @ParameterizedTest(name = "{1} octets from position {0} hold {2} Markers")
    @CsvSource({
        // One in front; then 508 octets have no other.
        "0, 8, 1",
        "0, 508, 1",
        "0, 512, 2",
        "0, 1016, 2",
        "0, 1020, 3",
        // One exactly behind the FPDU belongs to the next.
        "4, 508, 0",
        "4, 512, 1",
        "504, 8, 0",
        "504, 12, 1",
        "508, 8, 1",
        "512, 8, 1",
        "4294967040, 256, 0",
        "4294967040, 260, 1"
    })
    @Requirement("MPA-4.3-02")
    void countsTheMarkersOfAnFpdu(long position, int fpduLength, int count) {
        assertThat(MarkerFlyweight.count(position, fpduLength)).isEqualTo(count);
    }
}
