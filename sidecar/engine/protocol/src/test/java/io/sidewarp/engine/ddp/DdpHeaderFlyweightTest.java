// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import static io.sidewarp.engine.testing.Octets.hex;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.Octets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DdpHeaderFlyweightTest {

    /** Offset of the headers in the buffer: not 0, and not aligned. */
    private static final int AT = 3;

    private final WireBuffer buffer = WireBuffer.copyOf(hex("FF".repeat(24)));
    private final TaggedHeaderFlyweight tagged = new TaggedHeaderFlyweight();
    private final UntaggedHeaderFlyweight untagged = new UntaggedHeaderFlyweight();

    @Test
    @Requirement("DDP-4.2-01")
    void aTaggedHeaderIsControlUlpOctetStagAndTaggedOffset() {
        tagged.wrap(buffer, AT);

        tagged.set(true, 1, 0x40, 0x01234567, 0x89ABCDEF_FEDCBA98L);

        assertThat(Octets.of(buffer, 0, 24))
                .isEqualTo(hex("FFFFFF", "C1", "40", "01234567", "89ABCDEFFEDCBA98", "FFFFFFFFFFFFFF"));
        assertThat(TaggedHeaderFlyweight.LENGTH).isEqualTo(14);
    }

    @Test
    @Requirement("DDP-4.3-01")
    void anUntaggedHeaderIsControlUlpOctetsQueueNumberMsnAndMessageOffset() {
        untagged.wrap(buffer, AT);

        untagged.set(false, 1, 0x44, 0x11223344, 0x55667788, 0x99AABBCC, 0xDDEEFF01);

        assertThat(Octets.of(buffer, 0, 24))
                .isEqualTo(hex("FFFFFF", "01", "44", "11223344", "55667788", "99AABBCC", "DDEEFF01", "FFFFFF"));
        assertThat(UntaggedHeaderFlyweight.LENGTH).isEqualTo(18);
    }

    @Test
    @Requirement("DDP-4.3-01")
    void theSendOfRfc5044Figure5HasTheOctetsPrintedThere() {
        untagged.wrap(buffer, 0);

        untagged.set(true, 1, 0x43, 0, 0, 1, 0);

        assertThat(Octets.of(buffer, 0, 18)).isEqualTo(hex("41 43 00000000 00000000 00000001 00000000"));
    }

    @Test
    void aTaggedHeaderIsReadAsItIsWritten() {
        WireBuffer octets = WireBuffer.copyOf(hex("00", "81", "42", "FFFFFFFE", "FFFFFFFFFFFFFFFD"));
        tagged.wrap(octets, 1);

        assertThat(tagged.last()).isFalse();
        assertThat(tagged.version()).isEqualTo(1);
        assertThat(tagged.control()).isEqualTo(0x81);
        assertThat(tagged.ulpControl()).isEqualTo(0x42);
        assertThat(tagged.stag()).isEqualTo(0xFFFFFFFE);
        assertThat(tagged.to()).isEqualTo(-3L);
        assertThat(tagged.buffer()).isSameAs(octets);
        assertThat(tagged.offset()).isEqualTo(1);
    }

    @Test
    void anUntaggedHeaderIsReadAsItIsWrittenWithAnUnsignedMessageOffset() {
        untagged.wrap(WireBuffer.copyOf(hex("41 47 0A0B0C0D 00000002 FFFFFFFF FFFFFFF0")), 0);

        assertThat(untagged.last()).isTrue();
        assertThat(untagged.ulpControl()).isEqualTo(0x47);
        assertThat(untagged.ulpWord()).isEqualTo(0x0A0B0C0D);
        assertThat(untagged.qn()).isEqualTo(2);
        assertThat(untagged.msn()).isEqualTo(-1);
        assertThat(untagged.mo()).isEqualTo(0xFFFF_FFF0L);
    }

    @ParameterizedTest(name = "tagged {0}, last {1}, version {2}: {3}")
    @Requirement({"DDP-4.1-01", "DDP-4.1-05"})
    @CsvSource({
        "false, true, 1, 41",
        "false, false, 1, 01",
        "true, true, 1, C1",
        "true, false, 1, 81",
        "false, true, 0, 40",
        "true, false, 0, 80"
    })
    void theControlOctetHoldsTaggedLastAndVersionWithReservedBitsZero(
            boolean isTagged, boolean last, int version, String control) {
        if (isTagged) {
            tagged.wrap(buffer, 0);
            tagged.set(last, version, 0, 0, 0);
        } else {
            untagged.wrap(buffer, 0);
            untagged.set(last, version, 0, 0, 0, 0, 0);
        }

        assertThat(Octets.of(buffer, 0, 1)).isEqualTo(hex(control));
    }

    @ParameterizedTest
    @CsvSource({"41, false", "7F, false", "80, true", "FF, true", "00, false"})
    void theFirstBitTellsTheBufferModel(String control, boolean isTagged) {
        assertThat(DdpHeaderFlyweight.isTagged(hex(control)[0] & 0xFF)).isEqualTo(isTagged);
    }

    @Test
    void reservedBitsDoNotLeakIntoVersionAndFlags() {
        tagged.wrap(WireBuffer.copyOf(hex("BD 00 00000000 0000000000000000")), 0);

        assertThat(tagged.version()).isEqualTo(1);
        assertThat(tagged.last()).isFalse();
    }
}
