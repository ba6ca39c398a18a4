// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.RandomTries;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MpaPropertiesTest {

    /** Bytes that are random in full: the first few decide nearly always. */
    private static final int LONGEST = 255;

    @Test
    @Requirement({"MPA-4.3-07", "MPA-5.1-02", "MPA-3-01", "MPA-4.3-02"})
    void whatOneSideSendsTheOtherGetsHoweverItIsCut() {
        RandomTries.run(300, random -> {
            boolean crc = random.nextBoolean();
            boolean markers = random.nextBoolean();
            int piece = RandomTries.between(random, 1, random.nextBoolean() ? 3000 : 40);
            byte[][] sent = ulpdus(random);
            MpaOptions options = MpaOptions.defaults().with(bits(markers, crc));
            Endpoint initiator = Endpoint.initiator(options);
            Endpoint responder = Endpoint.responder(options);

            responder.input(initiator.output());
            initiator.input(responder.output());
            initiator.upper.send(sent);
            byte[] there = initiator.output();
            inPieces(responder, there, piece);
            responder.upper.send(sent);
            inPieces(initiator, responder.output(), piece);

            assertThat(there).isEqualTo(ReferenceStream.of(crc, markers, sent));
            assertThat(responder.upper.ulpdus).containsExactly(sent);
            assertThat(initiator.upper.ulpdus).containsExactly(sent);
            assertThat(initiator.transport.buffersOut + responder.transport.buffersOut)
                    .isZero();
        });
    }

    @Test
    @Requirement("MPA-7.1.2-12")
    void anyStartUpOctetsAreJudgedWithoutAnException() {
        RandomTries.run(500, random -> {
            boolean initiates = random.nextBoolean();
            byte[] frame = initiates ? Frames.reply(false, true) : Frames.request(false, true);
            byte[] valid = Arrays.copyOf(frame, RandomTries.between(random, 0, 20));
            byte[] input = Frames.concat(valid, octets(random));
            Endpoint endpoint =
                    initiates ? Endpoint.initiator(MpaOptions.defaults()) : Endpoint.responder(MpaOptions.defaults());
            endpoint.output();

            endpoint.mpa.receive(WireBuffer.copyOf(input), 0, input.length);
            endpoint.output();
            endpoint.mpa.receiveLost("end of the test");

            int outcomes = endpoint.established.size() + endpoint.rejections.size() + endpoint.failures.size();
            assertThat(outcomes).isOne();
            assertThat(endpoint.transport.buffersOut).isZero();
        });
    }

    @Test
    void anyOctetsInFullOperationEndInAtMostOneError() {
        RandomTries.run(500, random -> {
            MpaOptions options = MpaOptions.defaults().with(bits(random.nextBoolean(), random.nextBoolean()));
            Endpoint endpoint = Endpoint.establishedInitiator(options, false, false);

            endpoint.input(octets(random));
            endpoint.mpa.receiveEnd();
            endpoint.mpa.closed();

            assertThat(endpoint.upperEvents().stream().filter(event -> event.startsWith("error")))
                    .hasSizeLessThanOrEqualTo(1);
            assertThat(endpoint.upperEvents())
                    .filteredOn(event -> event.startsWith("closed"))
                    .hasSize(1);
            assertThat(endpoint.transport.buffersOut).isZero();
        });
    }

    private static byte[] octets(Random random) {
        byte[] octets = RandomTries.bytes(random, RandomTries.between(random, 0, LONGEST));
        // Half of them begin with small numbers, as lengths that fit do.
        for (int i = 0; i < octets.length && random.nextBoolean(); i++) {
            octets[i] = (byte) random.nextInt(4);
        }
        return octets;
    }

    private static byte[][] ulpdus(Random random) {
        byte[][] ulpdus = new byte[RandomTries.between(random, 1, 12)][];
        Arrays.setAll(ulpdus, _ -> RandomTries.bytes(random, RandomTries.between(random, 1, 1442)));
        return ulpdus;
    }

    private static void inPieces(Endpoint endpoint, byte[] octets, int piece) {
        WireBuffer buffer = WireBuffer.copyOf(octets);
        for (int at = 0; at < octets.length; at += piece) {
            endpoint.mpa.receive(buffer, at, Math.min(piece, octets.length - at));
        }
        endpoint.mpa.receiveDone();
    }
}
