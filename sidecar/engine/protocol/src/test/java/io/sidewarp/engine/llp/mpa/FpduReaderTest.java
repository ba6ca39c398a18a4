// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FpduReaderTest {

    private static final LowerLayer NO_LOWER_LAYER = null;

    private final Random random = new Random(5044);
    private final FakeTransport transport = new FakeTransport();
    private final RecordingUpper upper = new RecordingUpper(NO_LOWER_LAYER);

    @ParameterizedTest(name = "CRC {0}, Markers {1}")
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    @Requirement({"MPA-4.3-07", "MPA-3-05", "MPA-5.2-01"})
    void passesUpUlpdusOfAllSizesAsTheyWereSent(boolean crc, boolean markers) {
        byte[][] ulpdus = IntStream.concat(IntStream.rangeClosed(1, 2000), IntStream.of(64768))
                .mapToObj(length -> ReferenceStream.ulpdu(random, length))
                .toArray(byte[][]::new);

        LlpError error = read(reader(crc, markers), ReferenceStream.of(crc, markers, ulpdus));

        assertThat(error).isNull();
        assertThat(upper.ulpdus).containsExactly(ulpdus);
    }

    @Test
    @Requirement("MPA-4.3-06")
    void findsMarkersBehindTheWrapOfSequenceNumbers() {
        byte[] ulpdu = ReferenceStream.ulpdu(random, 1000);
        long start = 0xFFFFFFF0L;
        byte[] stream = new ReferenceStream(true, true, start).fpdu(ulpdu).toByteArray();

        LlpError error = read(new FpduReader(transport, upper, true, true, start), stream);

        assertThat(error).isNull();
        assertThat(upper.ulpdus).containsExactly(ulpdu);
    }

    @ParameterizedTest(name = "Markers {0}")
    @ValueSource(booleans = {true, false})
    @Requirement({"MPA-4.4-10", "MPA-6-01", "MPA-3-05", "MPA-8-02"})
    void neverPassesUpAnFpduWithAFlippedBit(boolean markers) {
        byte[] fpdu = ReferenceStream.of(true, markers, ReferenceStream.ulpdu(random, 600));
        int lengthField = markers ? 4 : 0;
        for (int bit = 0; bit < fpdu.length * 8; bit++) {
            byte[] flipped = fpdu.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);

            LlpError error = read(reader(true, markers), flipped);

            assertThat(upper.ulpdus).as("bit %d", bit).isEmpty();
            boolean lengthHit = bit / 8 == lengthField || bit / 8 == lengthField + 1;
            if (!lengthHit || error != null) {
                assertThat(error).as("bit %d", bit).isEqualTo(LlpError.CRC_MISMATCH);
            }
        }
    }

    @Test
    @Requirement("MPA-4.4-10")
    void findsALongerLengthOutWhenTheOctetsHaveCome() {
        byte[] fpdu = ReferenceStream.of(true, false, new byte[100]);
        fpdu[0] = (byte) 0x80;
        FpduReader reader = reader(true, false);

        assertThat(read(reader, fpdu)).isNull();
        assertThat(reader.insideFpdu()).isTrue();
        assertThat(read(reader, new byte[0x8000])).isEqualTo(LlpError.CRC_MISMATCH);
        assertThat(upper.ulpdus).isEmpty();
        assertThat(transport.buffersOut).isZero();
    }

    @Test
    @Requirement("MPA-6-01")
    void waitsForTheLastOctetOfATruncatedFpdu() {
        byte[] ulpdu = ReferenceStream.ulpdu(random, 50);
        byte[] fpdu = ReferenceStream.of(true, false, ulpdu);
        FpduReader reader = reader(true, false);

        assertThat(read(reader, Arrays.copyOf(fpdu, fpdu.length - 1))).isNull();
        assertThat(upper.ulpdus).isEmpty();
        assertThat(reader.validated()).isFalse();
        assertThat(read(reader, Arrays.copyOfRange(fpdu, fpdu.length - 1, fpdu.length)))
                .isNull();
        assertThat(upper.ulpdus).containsExactly(ulpdu);
        assertThat(reader.validated()).isTrue();
        assertThat(reader.insideFpdu()).isFalse();
    }

    @Test
    @Requirement({"MPA-4.1-03", "MPA-4.4-02"})
    void takesAnyCrcFieldWhenCrcsAreOff() {
        byte[] ulpdu = ReferenceStream.ulpdu(random, 20);
        byte[] fpdu = ReferenceStream.of(true, false, ulpdu);
        fpdu[fpdu.length - 1] ^= 0x55;

        assertThat(read(reader(false, false), fpdu)).isNull();
        assertThat(upper.ulpdus).containsExactly(ulpdu);
    }

    @Test
    @Requirement("MPA-4.1-02")
    void ignoresWhatPadHolds() {
        byte[] fpdu = ReferenceStream.of(true, false, new byte[19]);
        fpdu[21] = 1;
        fpdu[23] = 2;

        assertThat(read(reader(true, false), ReferenceStream.withCrc(fpdu))).isNull();
        assertThat(upper.ulpdus).containsExactly(new byte[19]);
    }

    @Test
    @Requirement({"MPA-4.2-01", "MPA-4.2-02"})
    void ignoresReservedBitsOfMarkersExceptInTheCrc() {
        byte[] ulpdu = ReferenceStream.ulpdu(random, 700);
        byte[] fpdu = ReferenceStream.of(true, true, ulpdu);
        fpdu[0] = (byte) 0xAB;
        fpdu[513] = (byte) 0xCD;
        fpdu[515] |= 3;

        assertThat(read(reader(true, true), fpdu.clone())).isEqualTo(LlpError.CRC_MISMATCH);
        assertThat(read(reader(true, true), ReferenceStream.withCrc(fpdu))).isNull();
        assertThat(upper.ulpdus).containsExactly(ulpdu);
    }

    @ParameterizedTest(name = "Marker at {0} tampered, CRC {1}")
    @CsvSource({"0, true", "512, true", "1024, true", "0, false", "512, false", "1024, false"})
    @Requirement("MPA-8-03")
    void reportsAMarkerThatPointsElsewhere(int marker, boolean crc) {
        byte[] fpdu = ReferenceStream.of(crc, true, ReferenceStream.ulpdu(random, 1200));
        fpdu[marker + 3] ^= 4;

        LlpError error = read(reader(crc, true), crc ? ReferenceStream.withCrc(fpdu) : fpdu);

        assertThat(error).isEqualTo(LlpError.MARKER_MISMATCH);
        assertThat(upper.ulpdus).isEmpty();
        assertThat(transport.buffersOut).isZero();
    }

    @Test
    @Requirement("MPA-8-03")
    void aCrcErrorComesBeforeAMarkerError() {
        byte[] fpdu = ReferenceStream.of(true, true, new byte[30]);
        fpdu[3] = 8;

        assertThat(read(reader(true, true), fpdu)).isEqualTo(LlpError.CRC_MISMATCH);
    }

    @Test
    @Requirement({"MPA-8-03", "MPA-6-02"})
    void reportsMarkersWhenTheLengthLeadsToAnotherStart() {
        // Both FPDUs are sound by themselves, but the Marker in the second one was made for a start 8 octets later.
        byte[] first = ReferenceStream.of(true, true, new byte[394]);
        byte[] second = new ReferenceStream(true, true, first.length + 8)
                .fpdu(new byte[200])
                .toByteArray();
        byte[] stream = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, stream, first.length, second.length);

        LlpError error = read(reader(false, true), stream);

        assertThat(error).isEqualTo(LlpError.MARKER_MISMATCH);
        assertThat(upper.ulpdus).hasSize(1);
    }

    @ParameterizedTest(name = "corrupted octet {0}")
    @ValueSource(ints = {2, 10, 47})
    @Requirement({"MPA-8-07", "MPA-6-02"})
    void passesNothingUpBehindAnError(int octet) {
        byte[] stream = ReferenceStream.of(true, false, new byte[42], new byte[42], new byte[42]);
        FpduReader reader = reader(true, false);
        stream[48 + octet] ^= 1;

        assertThat(read(reader, stream)).isEqualTo(LlpError.CRC_MISMATCH);
        assertThat(read(reader, ReferenceStream.of(true, false, new byte[42]))).isNull();

        assertThat(upper.ulpdus).hasSize(1);
        assertThat(transport.buffersOut).isZero();
    }

    @Test
    @Requirement("MPA-6-02")
    void doesNotLookForPatternsInsideAUlpdu() {
        byte[] inner = ReferenceStream.of(true, false, new byte[18]);
        byte[] outer = ReferenceStream.of(true, false, inner);

        read(reader(true, false), outer);

        assertThat(upper.ulpdus).containsExactly(inner);
    }

    @Test
    void takesEveryLengthThatTheFieldCanExpress() {
        byte[] longest = ReferenceStream.ulpdu(random, 65535);
        byte[] empty = {};

        assertThat(read(reader(true, true), ReferenceStream.of(true, true, empty, longest, empty)))
                .isNull();
        assertThat(upper.ulpdus).containsExactly(empty, longest, empty);
    }

    @Test
    void stopsWhenTheUpperLayerStopsIt() {
        FpduReader reader = reader(true, false);
        upper.onUlpdu = reader::stop;
        byte[] stream = ReferenceStream.of(true, false, new byte[42], new byte[42]);
        WireBuffer in = WireBuffer.copyOf(stream);

        reader.receive(in, 0, 10, false);
        reader.receive(in, 10, stream.length - 10, false);

        assertThat(upper.ulpdus).hasSize(1);
        assertThat(transport.buffersOut).isZero();
    }

    @Test
    void holdsABufferOnlyWhileAnFpduIsIncomplete() {
        byte[] stream = ReferenceStream.of(true, true, new byte[42], new byte[42]);
        WireBuffer in = WireBuffer.copyOf(stream);
        FpduReader reader = reader(true, true);

        reader.receive(in, 0, 5, false);
        assertThat(transport.buffersOut).as("inside the header").isZero();
        reader.receive(in, 5, 1, false);
        assertThat(transport.buffersOut).as("behind the header").isOne();
        reader.receive(in, 6, 46 + 48, false);
        assertThat(transport.buffersOut).as("complete").isZero();
        assertThat(upper.ulpdus).hasSize(2);
    }

    @ParameterizedTest(name = "{0} octets at a time")
    @ValueSource(ints = {1, 2, 1000, 5000, 40_000})
    void holdsAFewTimesAsMuchOfALongFpduAsHasCome(int piece) {
        byte[] ulpdu = ReferenceStream.ulpdu(random, 65_276);
        byte[] stream = ReferenceStream.of(true, true, ulpdu);
        WireBuffer in = WireBuffer.copyOf(stream);
        FpduReader reader = reader(true, true);

        for (int at = 0; at < stream.length; at += piece) {
            int length = Math.min(piece, stream.length - at);
            assertThat(reader.receive(in, at, length, false)).isNull();
            assertThat(transport.capacities).allMatch(within(4 * (at + length)));
            assertThat(transport.buffersOut).isLessThanOrEqualTo(1);
        }

        assertThat(upper.ulpdus).containsExactly(ulpdu);
        assertThat(transport.capacities).hasSizeLessThanOrEqualTo(4);
        assertThat(transport.buffersOut).isZero();
    }

    private static Predicate<Integer> within(int octets) {
        return capacity -> capacity <= Math.max(4096, octets);
    }

    @Test
    void copiesNothingTwiceOfAnFpduWhoseRestComesBehindItsFirstQuarter() {
        byte[] stream = ReferenceStream.of(true, false, new byte[60_000]);
        WireBuffer in = WireBuffer.copyOf(stream);
        FpduReader reader = reader(true, false);

        reader.receive(in, 0, 16_000, false);
        reader.receive(in, 16_000, stream.length - 16_000, false);

        assertThat(upper.ulpdus).hasSize(1);
        assertThat(transport.capacities).hasSize(1);
    }

    @Test
    void asksForAllThatIsNeededWhenOnlyTheHeaderCameInPieces() {
        byte[] stream = ReferenceStream.of(true, false, new byte[60_000]);
        WireBuffer in = WireBuffer.copyOf(stream);
        FpduReader reader = reader(true, false);

        reader.receive(in, 0, 1, false);
        reader.receive(in, 1, stream.length - 1, false);

        assertThat(upper.ulpdus).hasSize(1);
        assertThat(transport.capacities).containsExactly(stream.length);
    }

    private FpduReader reader(boolean crc, boolean markers) {
        return new FpduReader(transport, upper, crc, markers, 0);
    }

    private static @Nullable LlpError read(FpduReader reader, byte[] octets) {
        return reader.receive(WireBuffer.copyOf(octets), 0, octets.length, false);
    }
}
