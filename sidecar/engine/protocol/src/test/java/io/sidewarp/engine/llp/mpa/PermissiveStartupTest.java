// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.llp.mpa.Frames.concat;
import static io.sidewarp.engine.llp.mpa.Frames.hex;
import static io.sidewarp.engine.llp.mpa.Frames.numbered;
import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.verbs.CrcPolicy;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests start-up of a permissive endpoint with RDMAC peers (RFC 5044 Appendix C). */
class PermissiveStartupTest {

    private static final byte[] ULPDU = numbered(18, 0x40);

    private static void assertVersion0(Endpoint endpoint) {
        MpaStartup agreed = endpoint.established.getFirst();
        assertThat(agreed.revision()).isZero();
        assertThat(agreed.protocolVersion()).isZero();
        assertThat(endpoint.mpa.protocolVersion()).isZero();
        assertThat(agreed.crc()).isTrue();
        assertThat(agreed.sendMarkers()).isTrue();
        assertThat(agreed.receiveMarkers()).isTrue();
    }

    @ParameterizedTest(name = "own M {0} C {1}, peer''s M {2} C {3}")
    @CsvSource({
        "false, true, true, true",
        "true, true, true, true",
        "false, false, true, true",
        "true, false, true, true",
        "false, true, false, true",
        "false, false, false, false"
    })
    @Requirement({"MPA-C.2.3-01", "MPA-C.2.4-01", "MPA-C.1-01", "MPA-3-07", "MPA-7.1.1-09"})
    void aResponderAnswersWithRevision0MarkersAndCrcs(boolean m, boolean c, boolean peerM, boolean peerC) {
        Endpoint endpoint = Endpoint.responder(MpaOptions.defaults().with(bits(m, c)));

        endpoint.input(Frames.request((peerM ? Frames.M : 0) | (peerC ? Frames.C : 0), 0, numbered(4, 1)));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.M | Frames.C, 0, new byte[0]));
        assertVersion0(endpoint);
        assertThat(endpoint.established.getFirst().privateData()).isEqualTo(numbered(4, 1));
    }

    @ParameterizedTest(name = "own M {0} C {1}")
    @CsvSource({"false, true", "true, true", "false, false", "true, false"})
    @Requirement({"MPA-C.2.3-01", "MPA-C.2.5-01", "MPA-C.1-01", "MPA-3-07", "MPA-7.1.1-09"})
    void anInitiatorAsksWithRevision1AndFollowsTheReply(boolean m, boolean c) {
        Endpoint endpoint = Endpoint.initiator(MpaOptions.defaults().with(bits(m, c)));

        assertThat(endpoint.output()).isEqualTo(Frames.request((m ? Frames.M : 0) | (c ? Frames.C : 0), 1, hex("")));
        endpoint.input(Frames.reply(Frames.M | Frames.C, 0, numbered(4, 1)));

        assertVersion0(endpoint);
    }

    @Test
    @Requirement({"MPA-C.2.5-01", "MPA-C.2.3-01", "MPA-C.1-02", "MPA-7.1.2-10"})
    void anInitiatorsStreamsHaveMarkersAndCrcsFromTheFirstOctetOn() {
        Endpoint endpoint = Endpoint.initiator(MpaOptions.defaults().with(bits(false, false)));
        endpoint.output();
        endpoint.input(concat(
                Frames.reply(Frames.M | Frames.C, 0, new byte[0]), ReferenceStream.of(true, true, ULPDU, ULPDU)));

        endpoint.upper.send(ULPDU);
        byte[] sent = endpoint.output();

        assertThat(Arrays.copyOf(sent, 6)).isEqualTo(hex("000000000012"));
        assertThat(sent).isEqualTo(ReferenceStream.of(true, true, ULPDU));
        assertThat(endpoint.upper.ulpdus).containsExactly(ULPDU, ULPDU);
    }

    @Test
    @Requirement({"MPA-C.2.4-01", "MPA-C.2.3-01", "MPA-C.1-02", "MPA-7.1.2-10"})
    void aRespondersStreamsHaveMarkersAndCrcsFromTheFirstOctetOn() {
        Endpoint endpoint = Endpoint.responder(MpaOptions.defaults().with(bits(false, false)));
        endpoint.input(Frames.request(Frames.M | Frames.C, 0, new byte[0]));
        endpoint.output();
        endpoint.upper.send(ULPDU);
        assertThat(endpoint.output()).isEmpty();

        endpoint.input(ReferenceStream.of(true, true, ULPDU));

        assertThat(endpoint.output()).isEqualTo(ReferenceStream.of(true, true, ULPDU));
        assertThat(endpoint.upper.ulpdus).containsExactly(ULPDU);
    }

    @Test
    void aSideThatRequiresCrcsWorksWithAnRdmacPeer() {
        Endpoint endpoint =
                Endpoint.responder(MpaOptions.defaults().with(policy -> policy.withCrc(CrcPolicy.REQUIRED)));

        endpoint.input(Frames.request(Frames.M, 0, new byte[0]));
        endpoint.output();

        assertThat(endpoint.established).hasSize(1);
    }

    @Test
    void aRejectionOfAnRdmacPeerHasItsRevision() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, MpaOptions.defaults());
        endpoint.input(Frames.request(Frames.M | Frames.C, 0, new byte[0]));

        endpoint.mpa.reject(MpaOptions.defaults().withPrivateData(numbered(2, 1)));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.M | Frames.C | Frames.R, 0, numbered(2, 1)));
    }
}
