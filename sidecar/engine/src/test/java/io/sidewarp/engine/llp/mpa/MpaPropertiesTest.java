// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

class MpaPropertiesTest {

    @Property(tries = 300)
    @Requirement({"MPA-4.3-07", "MPA-5.1-02", "MPA-3-01", "MPA-4.3-02"})
    void whatOneSideSendsTheOtherGetsHoweverItIsCut(
            @ForAll("ulpdus") List<byte[]> ulpdus,
            @ForAll boolean crc,
            @ForAll boolean markers,
            @ForAll @IntRange(min = 1, max = 3000) int piece) {
        MpaOptions options = MpaOptions.defaults().with(bits(markers, crc));
        Endpoint initiator = Endpoint.initiator(options);
        Endpoint responder = Endpoint.responder(options);
        byte[][] sent = ulpdus.toArray(byte[][]::new);

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
    }

    @Property(tries = 500)
    @Requirement("MPA-7.1.2-12")
    void anyStartUpOctetsAreJudgedWithoutAnException(
            @ForAll byte[] octets, @ForAll @IntRange(min = 0, max = 20) int valid, @ForAll boolean initiates) {
        byte[] frame = initiates ? Frames.reply(false, true) : Frames.request(false, true);
        byte[] input = Frames.concat(Arrays.copyOf(frame, valid), octets);
        Endpoint endpoint =
                initiates ? Endpoint.initiator(MpaOptions.defaults()) : Endpoint.responder(MpaOptions.defaults());
        endpoint.output();

        endpoint.mpa.receive(WireBuffer.copyOf(input), 0, input.length);
        endpoint.output();
        endpoint.mpa.receiveLost("end of the test");

        int outcomes = endpoint.established.size() + endpoint.rejections.size() + endpoint.failures.size();
        assertThat(outcomes).isOne();
        assertThat(endpoint.transport.buffersOut).isZero();
    }

    @Property(tries = 500)
    void anyOctetsInFullOperationEndInAtMostOneError(
            @ForAll byte[] octets, @ForAll boolean crc, @ForAll boolean markers) {
        Endpoint endpoint = Endpoint.establishedInitiator(MpaOptions.defaults().with(bits(markers, crc)), false, false);

        endpoint.input(octets);
        endpoint.mpa.receiveEnd();
        endpoint.mpa.closed();

        assertThat(endpoint.upperEvents().stream().filter(event -> event.startsWith("error")))
                .hasSizeLessThanOrEqualTo(1);
        assertThat(endpoint.upperEvents())
                .filteredOn(event -> event.startsWith("closed"))
                .hasSize(1);
        assertThat(endpoint.transport.buffersOut).isZero();
    }

    @Provide
    Arbitrary<List<byte[]>> ulpdus() {
        return Arbitraries.bytes()
                .array(byte[].class)
                .ofMinSize(1)
                .ofMaxSize(1442)
                .list()
                .ofMinSize(1)
                .ofMaxSize(12);
    }

    private static void inPieces(Endpoint endpoint, byte[] octets, int piece) {
        WireBuffer buffer = WireBuffer.copyOf(octets);
        for (int at = 0; at < octets.length; at += piece) {
            endpoint.mpa.receive(buffer, at, Math.min(piece, octets.length - at));
        }
        endpoint.mpa.receiveDone();
    }
}
