// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.MpaLink;
import io.sidewarp.engine.testing.Octets;
import io.sidewarp.engine.testing.SctpLink;
import io.sidewarp.engine.testing.WireLink;
import io.sidewarp.engine.verbs.LlpError;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the requirements of DDP on any lower layer (RFC 5041 section 3) that can be seen without a network. */
class LowerLayerContractTest {

    /** Sends byte arrays as ULPDUs, and keeps received ULPDUs. */
    private static final class Messenger implements UpperLayer {

        private final LowerLayer llp;
        private final List<byte[]> outbound = new ArrayList<>();
        private final List<byte[]> inbound = new ArrayList<>();
        private final List<String> events = new ArrayList<>();
        private int next;

        Messenger(LowerLayer llp) {
            this.llp = llp;
        }

        void send(byte[] ulpdu) {
            outbound.add(ulpdu);
            llp.requestOutput();
        }

        @Override
        public void produce() {
            while (next < outbound.size() && llp.claim(outbound.get(next).length)) {
                byte[] ulpdu = outbound.get(next++);
                llp.buffer().putBytes(llp.offset(), ulpdu, 0, ulpdu.length);
                llp.commit();
            }
        }

        @Override
        public void onUlpdu(WireBuffer buffer, int offset, int length) {
            inbound.add(Octets.of(buffer, offset, length));
        }

        @Override
        public void onInputDone() {}

        @Override
        public void onTransferred() {}

        @Override
        public void onError(LlpError error) {
            events.add(error.name());
        }

        @Override
        public void onPeerClosed() {
            events.add("peer closed");
        }

        @Override
        public void onClosed(boolean graceful, String cause) {
            events.add(graceful ? "closed" : "lost");
        }
    }

    static Stream<Arguments> links() {
        Link.Type wire = WireLink::connect;
        MpaOptions crc = MpaOptions.defaults();
        MpaOptions markers = crc.with(bits(true, true));
        MpaOptions plain = crc.with(bits(false, false));
        return Stream.of(
                Arguments.of("wire", wire),
                Arguments.of("MPA", MpaLink.type(crc, crc)),
                Arguments.of("MPA with Markers", MpaLink.type(markers, markers)),
                Arguments.of("MPA without CRC", MpaLink.type(plain, plain)),
                Arguments.of("SCTP", SctpLink.type()));
    }

    private final Messenger[] ends = new Messenger[2];

    private Link connect(Link.Type type) {
        Link link = type.connect(llp -> ends[0] = new Messenger(llp), llp -> ends[1] = new Messenger(llp));
        // An MPA responder may send once it has seen an FPDU.
        ends[0].send(new byte[] {1});
        link.run();
        assertThat(ends[1].inbound).containsExactly(new byte[] {1});
        ends[1].inbound.clear();
        return link;
    }

    private static void rest(Link link) {
        for (int idle = 0; idle < 50; ) {
            boolean left = link.turn(Side.LEFT);
            boolean right = link.turn(Side.RIGHT);
            idle = left || right ? 0 : idle + 1;
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("links")
    @Requirement({"DDP-3-04", "DDP-3-07"})
    void ulpdusKeepTheirBoundariesLengthsAndOrderHoweverTheOctetsArePortioned(String name, Link.Type type) {
        Link link = connect(type);
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(5);
        link.shake(random);
        List<byte[]> sent = new ArrayList<>();
        for (int length = 1; length <= 40; length++) {
            sent.add(Octets.pattern(length, length));
        }
        sent.add(Octets.pattern(ends[0].llp.mulpdu(), 0));
        for (int i = 0; i < 100; i++) {
            sent.add(Octets.pattern(1 + random.nextInt(ends[0].llp.mulpdu()), i));
        }

        sent.forEach(ends[0]::send);
        sent.forEach(ends[1]::send);
        rest(link);

        for (Messenger end : ends) {
            assertThat(end.inbound).usingElementComparator(Arrays::compare).containsExactlyElementsOf(sent);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("links")
    @Requirement("DDP-3-09")
    void aGracefulEndIsToldInTwoSteps(String name, Link.Type type) {
        Link link = connect(type);

        ends[0].llp.closeOutput();
        link.run();
        assertThat(ends[1].events).containsExactly("peer closed");
        assertThat(ends[0].events).isEmpty();
        ends[1].send(new byte[] {7});
        link.run();
        assertThat(ends[0].inbound).containsExactly(new byte[] {7});
        ends[1].llp.closeOutput();
        link.run();

        assertThat(ends[0].events).containsExactly("peer closed", "closed");
        assertThat(ends[1].events).containsExactly("peer closed", "closed");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("links")
    void anAbortIsALossForThePeerWhereThatCanTell(String name, Link.Type type) {
        Link link = connect(type);

        ends[0].llp.abort();
        link.run();

        assertThat(ends[0].events).containsExactly("lost");
        assertThat(ends[1].events).containsExactly(ends[0].llp.abortReachesPeer() ? "lost" : "peer closed");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("links")
    void aCloseSendsWhatWasCommittedAndDiscardsWhatStillComes(String name, Link.Type type) {
        Link link = connect(type);
        ends[0].send(new byte[] {5});
        link.turn(Side.LEFT);
        ends[0].llp.close();
        ends[1].send(new byte[] {6});

        link.run();
        assertThat(ends[1].inbound).containsExactly(new byte[] {5});
        assertThat(ends[0].inbound).isEmpty();
        ends[1].llp.close();
        link.run();

        assertThat(ends[0].events).containsExactly("closed");
        assertThat(ends[1].events).containsExactly("peer closed", "closed");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("links")
    @Requirement("DDP-3-01")
    void aNewMulpduIsToldAndHolds(String name, Link.Type type) {
        Link link = connect(type);
        int before = ends[0].llp.mulpdu();
        link.mulpdu(Side.LEFT, 600);
        ends[0].send(new byte[10]);
        link.run();

        assertThat(ends[0].llp.mulpdu()).isLessThanOrEqualTo(600).isLessThan(before);
    }
}
