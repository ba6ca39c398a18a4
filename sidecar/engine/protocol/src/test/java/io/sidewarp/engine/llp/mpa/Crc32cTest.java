// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class Crc32cTest {

    @Test
    @Requirement("MPA-4.4-07")
    void isTheCrcOfIscsi() {
        byte[] digits = "x123456789x".getBytes(StandardCharsets.US_ASCII);
        WireBuffer buffer = WireBuffer.copyOf(digits);

        assertThat(new Crc32c().of(buffer, 1, 9)).isEqualTo(0xE3069283);
        assertThat(ReferenceStream.crc32c(digits, 1, 10)).isEqualTo(0xE3069283);
    }

    @Test
    void beginsAnewEachTimeAndLeavesTheBufferUsable() {
        WireBuffer buffer = WireBuffer.copyOf("123456789".getBytes(StandardCharsets.US_ASCII));
        Crc32c crc32c = new Crc32c();

        int first = crc32c.of(buffer, 0, 4);
        int whole = crc32c.of(buffer, 0, 9);

        assertThat(crc32c.of(buffer, 0, 4)).isEqualTo(first);
        assertThat(whole).isEqualTo(0xE3069283);
        assertThat(buffer.getUnsignedByte(8)).isEqualTo('9');
    }
}
