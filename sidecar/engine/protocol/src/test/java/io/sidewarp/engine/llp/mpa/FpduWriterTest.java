// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FpduWriterTest {

    private final WireBuffer buffer = WireBuffer.allocate(70_000);
    private final Random random = new Random(5044);

    /** RFC 5044 Figure 5. */
    @Test
    @Requirement({"MPA-4.4-11", "MPA-4.4-09", "MPA-4.3-02"})
    void writesTheFirstWorkedExample() {
        byte[] ulpdu =
                HexFormat.of().parseHex("4143" + "00000000" + "00000000" + "00000001" + "00000000" + "00".repeat(24));

        byte[] fpdu = write(new FpduWriter(true, true, 0), ulpdu);

        assertThat(HexFormat.of().formatHex(fpdu))
                .isEqualTo("00000000" + "002a" + "4143" + "00000000" + "00000000" + "00000001" + "00000000"
                        + "00".repeat(24) + "52239983");
    }

    /** RFC 5044 Figure 6: the FPDU at 0x1EC, with a Marker at 0x200 in front of the payload. */
    @Test
    @Requirement({"MPA-4.4-12", "MPA-4.3-03"})
    void writesTheSecondWorkedExample() {
        byte[] ulpdu =
                HexFormat.of().parseHex("4143" + "00000000" + "00000000" + "00000002" + "00000000" + "00".repeat(24));

        byte[] fpdu = write(new FpduWriter(true, true, 0x1EC), ulpdu);

        assertThat(HexFormat.of().formatHex(fpdu))
                .isEqualTo("002a" + "4143" + "00000000" + "00000000" + "00000002" + "00000000" + "00000014"
                        + "00".repeat(24) + "84925898");
    }

    /** RFC 5044 Figure 4, with the ULPDU numbered. */
    @Test
    @Requirement({"MPA-4.3-03", "MPA-4.1-02"})
    void writesTheExampleWithAMarkerInsideTheUlpdu() {
        byte[] ulpdu = HexFormat.of().parseHex("000102030405060708090a0b0c0d0e0f");

        byte[] fpdu = write(new FpduWriter(false, true, 500), ulpdu);

        assertThat(HexFormat.of().formatHex(fpdu))
                .isEqualTo("0010" + "00010203040506070809" + "0000000c" + "0a0b0c0d0e0f" + "0000" + "00000000");
    }

    @ParameterizedTest(name = "ULPDU of {0} octets")
    @ValueSource(ints = {1, 14, 18, 19, 20, 21, 46, 1454, 64768})
    @Requirement({"MPA-4.1-01", "MPA-4.1-02", "MPA-3-01"})
    void wrapsOneUlpduWithoutMarkers(int length) {
        byte[] ulpdu = ReferenceStream.ulpdu(random, length);
        dirty();

        byte[] fpdu = write(new FpduWriter(true, false, 0), ulpdu);

        assertThat(fpdu).hasSize((length + 2 + 3) / 4 * 4 + 4).isEqualTo(ReferenceStream.of(true, false, ulpdu));
    }

    @ParameterizedTest(name = "CRC {0}")
    @ValueSource(booleans = {true, false})
    @Requirement({"MPA-4.3-02", "MPA-4.3-03", "MPA-4.3-04", "MPA-4.3-05", "MPA-4.4-08", "MPA-4.4-09", "MPA-4.2-01"})
    void insertsMarkersAtEverySizeWhereTheReferenceHasThem(boolean crc) {
        FpduWriter writer = new FpduWriter(crc, true, 0);
        ReferenceStream reference = new ReferenceStream(crc, true);
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        dirty();

        for (int length = 1; length <= 2000; length++) {
            byte[] ulpdu = ReferenceStream.ulpdu(random, length);
            stream.writeBytes(write(writer, ulpdu));
            reference.fpdu(ulpdu);
        }
        byte[] largest = ReferenceStream.ulpdu(random, 64768);
        stream.writeBytes(write(writer, largest));
        reference.fpdu(largest);

        assertThat(stream.toByteArray()).isEqualTo(reference.toByteArray());
    }

    @Test
    @Requirement({"MPA-4.3-02", "MPA-4.3-04", "MPA-4.4-08", "MPA-4.4-09"})
    void insertsMarkersFromEveryPositionOfTheInterval() {
        for (int position = 0; position < 512; position += 4) {
            for (int length = 490; length < 530; length++) {
                byte[] ulpdu = ReferenceStream.ulpdu(random, length);

                byte[] fpdu = write(new FpduWriter(true, true, position), ulpdu);

                assertThat(fpdu)
                        .as("%d octets at %d", length, position)
                        .isEqualTo(new ReferenceStream(true, true, position)
                                .fpdu(ulpdu)
                                .toByteArray());
            }
        }
    }

    @Test
    @Requirement("MPA-4.3-02")
    void keepsTheIntervalAcrossTheWrapOfSequenceNumbers() {
        byte[] ulpdu = new byte[2000];
        long start = 0xFFFFFF00L;

        byte[] fpdu = write(new FpduWriter(true, true, start), ulpdu);

        // The first Marker stands at 0x100000000: 256 octets on, then one every 512 octets.
        assertThat(fpdu)
                .isEqualTo(new ReferenceStream(true, true, start).fpdu(ulpdu).toByteArray());
        for (int at = 256; at < fpdu.length - 4; at += 512) {
            assertThat(Arrays.copyOfRange(fpdu, at, at + 4)).containsExactly(0, 0, (byte) (at >> 8), (byte) at);
        }
    }

    @Test
    @Requirement({"MPA-4.3-04", "MPA-4.2-01"})
    void aMarkerBetweenTwoFpdusBelongsToTheSecondAndIsZero() {
        FpduWriter writer = new FpduWriter(true, true, 0);
        // With its Marker the first FPDU fills the interval: 4 + 2 + 502 + 4.
        byte[] first = write(writer, new byte[502]);
        byte[] second = write(writer, new byte[] {1, 2});

        assertThat(first).hasSize(512);
        assertThat(Arrays.copyOf(second, 8)).containsExactly(0, 0, 0, 0, 0, 2, 1, 2);
        assertThat(second).isEqualTo(ReferenceStream.withCrc(second.clone()));
    }

    @Test
    @Requirement("MPA-4.3-05")
    void allMarkersOfAnFpduPointToItsHeader() {
        byte[] fpdu = write(new FpduWriter(true, true, 0), new byte[8192]);

        for (int k = 1; k <= 16; k++) {
            int at = 512 * k;
            assertThat((fpdu[at + 2] & 0xFF) << 8 | (fpdu[at + 3] & 0xFF)).isEqualTo(at - 4);
        }
    }

    @Test
    @Requirement("MPA-4.3-05")
    void aMarkerAmongSmallFpdusPointsIntoTheOneThatHoldsIt() {
        FpduWriter writer = new FpduWriter(true, true, 4);
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        for (int i = 0; i < 22; i++) {
            stream.writeBytes(write(writer, new byte[18]));
        }

        // FPDUs of 24 octets from 4 on: the 22nd begins at 508, so the Marker at 512 points 4 octets back.
        assertThat(Arrays.copyOfRange(stream.toByteArray(), 508, 512)).containsExactly(0, 0, 0, 4);
    }

    @Test
    @Requirement("MPA-4.4-08")
    void aMarkerBetweenPadAndCrcIsCoveredByTheCrc() {
        // ULPDU_Length and ULPDU end at 512, where the Marker stands; the CRC field follows it.
        byte[] fpdu = write(new FpduWriter(true, true, 488), new byte[22]);

        assertThat(Arrays.copyOfRange(fpdu, 24, 28)).containsExactly(0, 0, 0, 24);
        assertThat(fpdu).hasSize(32).isEqualTo(ReferenceStream.withCrc(fpdu.clone()));
    }

    @Test
    void writesNothingBehindTheFpdu() {
        for (int length = 480; length < 540; length++) {
            dirty();
            FpduWriter writer = new FpduWriter(true, true, 0);

            byte[] fpdu = write(writer, new byte[length]);

            assertThat(buffer.getLong(12 + fpdu.length))
                    .as("ULPDU of %d octets", length)
                    .isEqualTo(-1);
        }
    }

    @Test
    void tellsTheLengthBeforehand() {
        FpduWriter writer = new FpduWriter(true, true, 0);
        for (int length = 1; length < 1200; length += 7) {
            int told = writer.fpduLength(length);
            assertThat(write(writer, new byte[length])).hasSize(told);
        }
    }

    private byte[] write(FpduWriter writer, byte[] ulpdu) {
        int offset = 12;
        buffer.putBytes(offset + writer.ulpduOffset(), ulpdu, 0, ulpdu.length);
        byte[] fpdu = new byte[writer.write(buffer, offset, ulpdu.length)];
        buffer.getBytes(offset, fpdu, 0, fpdu.length);
        return fpdu;
    }

    private void dirty() {
        byte[] ones = new byte[buffer.capacity()];
        Arrays.fill(ones, (byte) 0xFF);
        buffer.putBytes(0, ones, 0, ones.length);
    }
}
