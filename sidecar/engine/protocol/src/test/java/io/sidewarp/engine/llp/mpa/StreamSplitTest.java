// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.llp.mpa.Frames.concat;
import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that the result does not depend on how TCP cuts the stream. */
@Requirement({"MPA-5.1-02", "MPA-4.3-07", "MPA-3-05", "MPA-A-03"})
class StreamSplitTest {

    private static final MpaOptions DEFAULTS = MpaOptions.defaults();
    private static final byte[] PRIVATE_DATA = Frames.numbered(37, 1);

    private final Random random = new Random(5044);
    private final byte[][] ulpdus = IntStream.of(1, 2, 18, 46, 500, 502, 3, 1442, 14, 600, 19)
            .mapToObj(length -> ReferenceStream.ulpdu(random, length))
            .toArray(byte[][]::new);

    @ParameterizedTest(name = "CRC {0}, Markers {1}")
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void anInitiatorTakesTheReplyAndTheFpdusCutInTwoAnywhere(boolean crc, boolean markers) {
        byte[] session = session(crc, markers);
        for (int cut = 0; cut <= session.length; cut++) {
            Endpoint endpoint = initiator(crc, markers);

            endpoint.inputInPieces(session, cut);

            assertSession(endpoint, "cut at " + cut);
        }
    }

    @ParameterizedTest(name = "CRC {0}, Markers {1}")
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void anInitiatorTakesOneOctetAtATime(boolean crc, boolean markers) {
        byte[] session = session(crc, markers);
        Endpoint endpoint = initiator(crc, markers);

        endpoint.inputInPieces(session, IntStream.rangeClosed(1, session.length).toArray());

        assertSession(endpoint, "one octet at a time");
    }

    @ParameterizedTest(name = "CRC {0}, Markers {1}")
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void anInitiatorTakesThreeOctetsAtATime(boolean crc, boolean markers) {
        byte[] session = session(crc, markers);
        Endpoint endpoint = initiator(crc, markers);

        endpoint.inputInPieces(
                session, IntStream.range(1, session.length / 3).map(i -> i * 3).toArray());

        assertSession(endpoint, "three octets at a time");
    }

    @ParameterizedTest(name = "CRC {0}, Markers {1}")
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void anInitiatorTakesRandomPieces(boolean crc, boolean markers) {
        byte[] session = session(crc, markers);
        for (int round = 0; round < 500; round++) {
            int[] cuts = random.ints(1 + random.nextInt(40), 0, session.length + 1)
                    .sorted()
                    .toArray();
            Endpoint endpoint = initiator(crc, markers);

            endpoint.inputInPieces(session, cuts);

            assertSession(endpoint, Arrays.toString(cuts));
        }
    }

    @ParameterizedTest(name = "CRC {0}, Markers {1}")
    @CsvSource({"true, true", "false, false"})
    void theLargestFpdusComeInPieces(boolean crc, boolean markers) {
        byte[] large = ReferenceStream.ulpdu(random, 64768);
        byte[] other = ReferenceStream.ulpdu(random, 64001);
        byte[] stream = concat(Frames.reply(0, 1, PRIVATE_DATA), ReferenceStream.of(crc, markers, large, other));
        for (int piece : new int[] {1, 3, 511, 1460, 65483}) {
            Endpoint endpoint = initiator(crc, markers);

            endpoint.inputInPieces(
                    stream,
                    IntStream.iterate(piece, end -> end < stream.length, end -> end + piece)
                            .toArray());

            assertThat(endpoint.upper.ulpdus).as("pieces of %d", piece).containsExactly(large, other);
            assertThat(endpoint.transport.buffersOut).isZero();
        }
    }

    @ParameterizedTest(name = "CRC {0}, Markers {1}")
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void aTransportKeepsTheBeginningsOfLongFpdus(boolean crc, boolean markers) {
        byte[][] some = IntStream.of(46, 5000, 64768, 18, 3, 4088, 20_000, 64001)
                .mapToObj(length -> ReferenceStream.ulpdu(random, length))
                .toArray(byte[][]::new);
        byte[] stream = concat(Frames.reply(0, 1, PRIVATE_DATA), ReferenceStream.of(crc, markers, some));
        for (int round = 0; round < 50; round++) {
            int[] cuts = random.ints(1 + random.nextInt(60), 0, stream.length + 1)
                    .sorted()
                    .toArray();
            Endpoint endpoint = initiator(crc, markers);

            endpoint.inputKept(stream, cuts);

            assertThat(endpoint.upper.ulpdus).as(Arrays.toString(cuts)).containsExactly(some);
            assertThat(endpoint.transport.buffersOut).isZero();
        }
    }

    @Test
    @Requirement("MPA-6-01")
    void aStreamThatEndsInWhatATransportKeepsIsTruncated() {
        byte[] fpdu = ReferenceStream.of(true, false, ReferenceStream.ulpdu(random, 5000));
        Endpoint endpoint = initiator(true, false);
        endpoint.input(Frames.reply(0, 1, PRIVATE_DATA));
        WireBuffer in = WireBuffer.copyOf(fpdu);

        assertThat(endpoint.mpa.receive(in, 0, fpdu.length - 1, true)).isZero();
        assertThat(endpoint.mpa.incompleteFpdu()).isEqualTo(fpdu.length);
        endpoint.mpa.receiveEnd();

        assertThat(endpoint.upper.events).last().isEqualTo("error " + LlpError.CONNECTION_LOST.code());
        assertThat(endpoint.mpa.incompleteFpdu()).isZero();
    }

    @ParameterizedTest(name = "CRC {0}, Markers {1}")
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void aResponderTakesTheRequestAndTheFpdusCutInTwoAnywhere(boolean crc, boolean markers) {
        byte[] request = Frames.request(0, 1, PRIVATE_DATA);
        byte[] stream = ReferenceStream.of(crc, markers, ulpdus);
        for (int cut = 0; cut <= stream.length; cut++) {
            Endpoint endpoint = Endpoint.responder(DEFAULTS.with(bits(markers, crc)));

            endpoint.inputInPieces(request, cut % (request.length + 1));
            endpoint.output();
            endpoint.inputInPieces(stream, cut);

            assertSession(endpoint, "cut at " + cut);
        }
    }

    private byte[] session(boolean crc, boolean markers) {
        return concat(Frames.reply(0, 1, PRIVATE_DATA), ReferenceStream.of(crc, markers, ulpdus));
    }

    private static Endpoint initiator(boolean crc, boolean markers) {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS.with(bits(markers, crc)));
        endpoint.output();
        return endpoint;
    }

    private void assertSession(Endpoint endpoint, String description) {
        assertThat(endpoint.established).as(description).hasSize(1);
        assertThat(endpoint.established.getFirst().privateData())
                .as(description)
                .isEqualTo(PRIVATE_DATA);
        assertThat(endpoint.upper.ulpdus).as(description).containsExactly(ulpdus);
        assertThat(endpoint.upperEvents()).as(description).isEmpty();
        assertThat(endpoint.transport.buffersOut).as(description).isZero();
    }
}
