// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Tests Netlink attributes in the byte order of a little-endian machine. */
class NetlinkAttributesTest {

    private static NetlinkAttributes parse(String hexadecimal) {
        return NetlinkAttributes.parse(ByteBuffer.wrap(HexFormat.of().parseHex(hexadecimal.replace(" ", ""))));
    }

    @Test
    void writerEncodesLengthTypeValueAndPadding() {
        byte[] bytes = new NetlinkWriter()
                .header((byte) 38, (byte) 1, (byte) 0, (byte) 0)
                .string(1, "pci")
                .string(2, "siw0x")
                .u8(83, 6)
                .u32(3, 0x01020304)
                .flag(86)
                .bytes();

        assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo("26010000" + "0800010070636900" + "0a000200736977307800" + "0000" + "0500530006000000"
                        + "0800030004030201" + "04005600");
    }

    @Test
    void parseReturnsWrittenAttributes() {
        NetlinkAttributes attributes = NetlinkAttributes.parse(ByteBuffer.wrap(new NetlinkWriter()
                .u32(1, 7)
                .string(2, "siw0")
                .flag(9)
                .u8(3, 255)
                .bytes()));

        assertThat(attributes.u32(1)).hasValue(7);
        assertThat(attributes.string(2)).contains("siw0");
        assertThat(attributes.has(9)).isTrue();
        assertThat(attributes.u8(3)).hasValue(255);
        assertThat(attributes.string(4)).isEmpty();
        assertThat(attributes.nested(4).has(1)).isFalse();
    }

    @Test
    void nestedAttributesAreFoundDespiteTypeFlags() {
        // Attribute 80 has the type flag for nested attributes. The attribute contains a name and two lists of values.
        NetlinkAttributes attributes =
                parse("2000 5080" + "0800 5100 61626300" + "0c00 5500 0500 5700 00000000" + "0800 5500 0400 5600");

        assertThat(attributes.nested(80).string(81)).contains("abc");
        assertThat(attributes.nested(80).nestedList(85)).hasSize(2);
        assertThat(attributes.nested(80).nestedList(85).getFirst().u8(87)).hasValue(0);
        assertThat(attributes.nested(80).nestedList(85).getLast().has(86)).isTrue();
    }

    @Test
    void parseStopsAtTruncatedAttribute() {
        assertThat(parse("0800 0100 07000000" + "2000 0200 6162").u32(1)).hasValue(7);
        assertThat(parse("0800 0100 07000000" + "2000 0200 6162").has(2)).isFalse();
        assertThat(parse("0300 0100").has(1)).isFalse();
        assertThat(parse("0800").has(1)).isFalse();
        assertThat(parse("0600 0100 0700 0000").u32(1)).isEqualTo(OptionalInt.empty());
        assertThat(parse("0600 0100 0700 0000").u16(1)).hasValue(7);
    }
}
