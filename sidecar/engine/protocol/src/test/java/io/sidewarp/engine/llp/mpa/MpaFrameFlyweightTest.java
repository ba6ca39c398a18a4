// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class MpaFrameFlyweightTest {

    private static final String REQUEST = "4d504120494420526571204672616d65";
    private static final String REPLY = "4d504120494420526570204672616d65";

    private final MpaFrameFlyweight frame = new MpaFrameFlyweight();

    @Test
    @Requirement({"MPA-7.1.1-01", "MPA-7.1.1-02"})
    void writesTheOctetsOfARequest() {
        WireBuffer buffer = WireBuffer.allocate(64);

        frame.wrap(buffer, 8).requestKey().m(true).c(true).r(false).rev(1).privateData(0, new byte[] {
            (byte) 0xCA, (byte) 0xFE, 1
        });

        assertThat(hex(buffer, 8, 23)).isEqualTo(REQUEST + "c001" + "0003" + "cafe01");
        assertThat(frame.length()).isEqualTo(23);
    }

    @Test
    @Requirement({"MPA-7.1.1-01", "MPA-7.1.1-03"})
    void writesTheOctetsOfAReply() {
        WireBuffer buffer = WireBuffer.allocate(32);

        frame.wrap(buffer, 0).replyKey().m(false).c(true).r(true).rev(2).s(true).privateData(0, new byte[0]);

        assertThat(hex(buffer, 0, 20)).isEqualTo(REPLY + "7002" + "0000");
    }

    @Test
    @Requirement("MPA-7.1.1-01")
    void readsEachFieldFromItsPlace() {
        WireBuffer buffer = WireBuffer.copyOf(HexFormat.of().parseHex("ffff" + REPLY + "b5fe" + "0102"));

        frame.wrap(buffer, 2);

        assertThat(frame.isReplyKey(16)).isTrue();
        assertThat(frame.isRequestKey(16)).isFalse();
        assertThat(frame.m()).isTrue();
        assertThat(frame.c()).isFalse();
        assertThat(frame.r()).isTrue();
        assertThat(frame.s()).isTrue();
        assertThat(frame.res()).isEqualTo(0x05);
        assertThat(frame.rev()).isEqualTo(0xFE);
        assertThat(frame.pdLength()).isEqualTo(0x0102);
        assertThat(frame.length()).isEqualTo(20 + 0x0102);
    }

    @Test
    void changesOneFlagAndLeavesTheOthers() {
        WireBuffer buffer = WireBuffer.allocate(20);
        buffer.putByte(MpaFrameFlyweight.FLAGS_FIELD_OFFSET, 0xFF);

        frame.wrap(buffer, 0).c(false);
        assertThat(buffer.getUnsignedByte(16)).isEqualTo(0xBF);
        frame.m(false).s(false).res(0);
        assertThat(buffer.getUnsignedByte(16)).isEqualTo(0x20);
        frame.r(false).m(true);
        assertThat(buffer.getUnsignedByte(16)).isEqualTo(0x80);
    }

    @Test
    void comparesOnlyTheOctetsOfTheKeyThatAreThere() {
        WireBuffer buffer = WireBuffer.copyOf(HexFormat.of().parseHex(REQUEST));

        frame.wrap(buffer, 0);

        assertThat(frame.isReplyKey(9)).isTrue();
        assertThat(frame.isReplyKey(10)).isFalse();
        assertThat(frame.isRequestKey(10)).isTrue();
    }

    @Test
    void copiesThePrivateData() {
        WireBuffer buffer = WireBuffer.copyOf(HexFormat.of().parseHex(REQUEST + "4001" + "0002" + "0a0b" + "0c"));

        byte[] data = frame.wrap(buffer, 0).privateData(0);
        buffer.putByte(20, 0);

        assertThat(data).containsExactly(0x0A, 0x0B);
    }

    @Test
    @Requirement("EMPA-6-02")
    void countsTheProtocolsOwnOctetsOfPrivateDataInPdLength() {
        WireBuffer buffer = WireBuffer.allocate(32);

        frame.wrap(buffer, 0)
                .requestKey()
                .s(true)
                .rev(2)
                .privateData(4, new byte[] {7, 8})
                .privateDataWord(0, 0x0010_0008);

        assertThat(hex(buffer, 0, 26)).isEqualTo(REQUEST + "1002" + "0006" + "00100008" + "0708");
        assertThat(frame.isEnhanced()).isTrue();
        assertThat(frame.privateDataWord(0)).isEqualTo(0x0010_0008);
        assertThat(frame.privateData(4)).containsExactly(7, 8);
    }

    private static String hex(WireBuffer buffer, int offset, int length) {
        byte[] octets = new byte[length];
        buffer.getBytes(offset, octets, 0, length);
        return HexFormat.of().formatHex(octets);
    }
}
