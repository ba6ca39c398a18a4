// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.llp.mpa.Frames.concat;
import static io.sidewarp.engine.llp.mpa.Frames.numbered;
import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.sidewarp.conformance.Requirement;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FullOperationTest {

    private static final MpaOptions DEFAULTS = MpaOptions.defaults();
    private static final byte[] ULPDU = numbered(42, 1);
    private static final byte[] OTHER = numbered(19, 100);

    @ParameterizedTest(name = "M {0}, C {1}, peer''s M {2} C {3}")
    @CsvSource({
        "false, true, false, true",
        "false, true, true, true",
        "true, true, false, true",
        "true, true, true, true",
        "false, false, false, true",
        "false, true, false, false",
        "false, false, true, false",
        "true, false, false, false"
    })
    @Requirement({"MPA-4.3-01", "MPA-7.1.1-04", "MPA-7.1.1-05", "MPA-7.1.2-10", "MPA-C.3-01", "MPA-4.4-02", "MPA-4.4-05"
    })
    void putsMarkersOnlyTowardsTheSideThatWantsThem(boolean m, boolean c, boolean peerM, boolean peerC) {
        MpaOptions options = DEFAULTS.with(bits(m, c));
        boolean crc = c || peerC;

        Endpoint initiator = Endpoint.establishedInitiator(options, peerM, peerC);
        initiator.upper.send(ULPDU, OTHER);
        byte[] initiatorSends = initiator.output();
        initiator.input(ReferenceStream.of(crc, m, OTHER, ULPDU));

        Endpoint responder = Endpoint.establishedResponder(options, peerM, peerC);
        responder.input(ReferenceStream.of(crc, m, OTHER, ULPDU));
        responder.upper.send(ULPDU, OTHER);

        assertThat(initiatorSends).isEqualTo(ReferenceStream.of(crc, peerM, ULPDU, OTHER));
        assertThat(responder.output()).isEqualTo(initiatorSends);
        assertThat(initiator.upper.ulpdus).containsExactly(OTHER, ULPDU);
        assertThat(responder.upper.ulpdus).containsExactly(OTHER, ULPDU);
    }

    @ParameterizedTest(name = "C {0}, peer''s C {1}: accepted {2}")
    @CsvSource({"false, false, true", "false, true, false", "true, false, false", "true, true, false"})
    @Requirement({"MPA-4.4-02", "MPA-4.4-05", "MPA-4.4-06", "MPA-7.1.1-05", "MPA-4.1-03"})
    void checksCrcsUnlessBothSidesDeclinedThem(boolean c, boolean peerC, boolean accepted) {
        byte[] fpdu = ReferenceStream.of(true, false, ULPDU);
        fpdu[fpdu.length - 1] ^= 1;

        for (Endpoint endpoint : new Endpoint[] {
            Endpoint.establishedInitiator(DEFAULTS.with(bits(false, c)), false, peerC),
            Endpoint.establishedResponder(DEFAULTS.with(bits(false, c)), false, peerC)
        }) {
            endpoint.input(fpdu);

            assertThat(endpoint.upper.ulpdus).hasSize(accepted ? 1 : 0);
            assertThat(endpoint.upperEvents()).isEqualTo(accepted ? Arrays.asList() : Arrays.asList("error 2"));
        }
    }

    @ParameterizedTest(name = "Markers {0}")
    @ValueSource(booleans = {true, false})
    @Requirement("MPA-7.1.2-09")
    void aResponderSendsNothingBeforeItsFirstValidFpdu(boolean markers) {
        Endpoint endpoint = Endpoint.establishedResponder(DEFAULTS, markers, true);
        endpoint.upper.send(OTHER);
        byte[] fpdu = ReferenceStream.of(true, false, ULPDU);

        assertThat(endpoint.output()).isEmpty();
        endpoint.input(Arrays.copyOf(fpdu, fpdu.length - 1));
        endpoint.upper.send(ULPDU);
        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.mpa.outputPermitted()).isFalse();

        endpoint.input(Arrays.copyOfRange(fpdu, fpdu.length - 1, fpdu.length));
        assertThat(endpoint.mpa.outputPermitted()).isTrue();
        assertThat(endpoint.output()).isEqualTo(ReferenceStream.of(true, markers, OTHER, ULPDU));
    }

    @Test
    void heldOutputWaitsForItsReleaseAndReceptionGoesOn() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);
        endpoint.mpa.holdOutput();
        endpoint.upper.send(ULPDU);
        assertThat(endpoint.output()).isEmpty();

        endpoint.input(ReferenceStream.of(true, false, OTHER));
        assertThat(endpoint.upper.ulpdus).containsExactly(OTHER);
        assertThat(endpoint.output()).isEmpty();

        endpoint.mpa.releaseOutput();
        assertThat(endpoint.output()).isEqualTo(ReferenceStream.of(true, false, ULPDU));
    }

    @Test
    @Requirement("MPA-7.1.2-09")
    void aResponderMayAnswerItsFirstFpduAtOnce() {
        Endpoint endpoint = Endpoint.establishedResponder(DEFAULTS, false, true);
        endpoint.upper.onUlpdu = () -> endpoint.upper.send(OTHER);

        endpoint.input(ReferenceStream.of(true, false, ULPDU));

        assertThat(endpoint.output()).isEqualTo(ReferenceStream.of(true, false, OTHER));
    }

    @Test
    @Requirement("MPA-7.1.2-09")
    void anInvalidFirstFpduPermitsAResponderNothing() {
        Endpoint endpoint = Endpoint.establishedResponder(DEFAULTS, false, true);
        byte[] fpdu = ReferenceStream.of(true, false, ULPDU);
        fpdu[9] ^= 1;
        endpoint.input(fpdu);

        endpoint.upper.send(OTHER);

        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.mpa.outputPermitted()).isFalse();
        assertThat(endpoint.upperEvents()).containsExactly("error 2");
    }

    @Test
    void aResponderWithoutWorkCanEndItsDirectionBeforeTheFirstFpdu() {
        Endpoint endpoint = Endpoint.establishedResponder(DEFAULTS, false, true);
        endpoint.upper.onDrained = endpoint.mpa::closeOutput;

        endpoint.mpa.receiveEnd();
        endpoint.mpa.requestOutput();
        endpoint.output();

        assertThat(endpoint.transport.calls).containsExactly("shutdownOutput");
    }

    @Test
    void aResponderWhoseOutputCanNeverBePermittedCloses() {
        Endpoint endpoint = Endpoint.establishedResponder(DEFAULTS, false, true);
        endpoint.upper.send(ULPDU);

        endpoint.mpa.receiveEnd();
        endpoint.mpa.requestOutput();

        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.upperEvents()).containsExactly("peerClosed");
    }

    @ParameterizedTest(name = "flipped octet {0}")
    @ValueSource(ints = {9, 47})
    @Requirement({"MPA-8-02", "MPA-8-05", "MPA-8-07", "MPA-8-08", "MPA-4.4-10"})
    void afterACrcErrorNothingComesUpButOutputWorks(int octet) {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);
        byte[] bad = ReferenceStream.of(true, false, ULPDU);
        bad[octet] ^= 0x10;

        endpoint.input(concat(ReferenceStream.of(true, false, OTHER), bad, ReferenceStream.of(true, false, OTHER)));
        endpoint.input(ReferenceStream.of(true, false, OTHER));
        endpoint.upper.send(ULPDU);

        assertThat(endpoint.upper.ulpdus).hasSize(1);
        assertThat(endpoint.upperEvents()).containsExactly("error 2");
        assertThat(endpoint.upper.events).contains("inputDone");
        assertThat(endpoint.output()).isEqualTo(ReferenceStream.of(true, false, ULPDU));
        assertThat(endpoint.transport.calls).isEmpty();
        endpoint.mpa.receiveEnd();
        assertThat(endpoint.upperEvents()).containsExactly("error 2", "peerClosed");
    }

    @Test
    @Requirement({"MPA-8-03", "MPA-8-05", "MPA-8-07", "MPA-8-08"})
    void afterAMarkerErrorNothingComesUpButOutputWorks() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS.with(bits(true, true)), false, true);
        byte[] bad = ReferenceStream.of(true, true, ULPDU);
        bad[3] = 4;

        endpoint.input(ReferenceStream.withCrc(bad));
        endpoint.input(ReferenceStream.of(true, false, OTHER));
        endpoint.upper.send(ULPDU);

        assertThat(endpoint.upper.ulpdus).isEmpty();
        assertThat(endpoint.upperEvents()).containsExactly("error 3");
        assertThat(endpoint.output()).isEqualTo(ReferenceStream.of(true, false, ULPDU));
        assertThat(endpoint.transport.calls).isEmpty();
    }

    @Test
    @Requirement("MPA-7.2-01")
    void tellsOfAFinBetweenFpdusWhileOutputGoesOn() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);
        endpoint.input(ReferenceStream.of(true, false, OTHER));

        endpoint.mpa.receiveEnd();
        endpoint.upper.send(ULPDU);

        assertThat(endpoint.upperEvents()).containsExactly("peerClosed");
        assertThat(endpoint.output()).isEqualTo(ReferenceStream.of(true, false, ULPDU));
        assertThat(endpoint.transport.calls).isEmpty();
    }

    @ParameterizedTest(name = "FIN after {0} octets")
    @ValueSource(ints = {1, 2, 3, 47})
    @Requirement({"MPA-8-01", "MPA-8-05"})
    void aFinInsideAnFpduIsALostConnection(int octets) {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);
        endpoint.input(Arrays.copyOf(ReferenceStream.of(true, false, ULPDU), octets));

        endpoint.mpa.receiveEnd();
        endpoint.mpa.closed();

        assertThat(endpoint.upperEvents()).containsExactly("error 1", "closed false");
        assertThat(endpoint.transport.buffersOut).isZero();
    }

    @Test
    @Requirement("MPA-8-01")
    void aResetIsReportedOnce() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);
        endpoint.input(new byte[] {0, 42, 1});

        endpoint.mpa.receiveLost("Connection reset by peer");
        endpoint.mpa.closed();

        assertThat(endpoint.upperEvents()).containsExactly("closed false");
        assertThat(endpoint.transport.buffersOut).isZero();
        assertThat(endpoint.output()).isEmpty();
    }

    @Test
    @Requirement("MPA-7.2-01")
    void closingTheOutputLeavesTheInputOpen() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);
        endpoint.upper.send(ULPDU);
        endpoint.upper.onDrained = endpoint.mpa::closeOutput;

        assertThat(endpoint.output()).hasSize(48);
        endpoint.mpa.closeOutput();
        endpoint.upper.send(OTHER);
        endpoint.input(ReferenceStream.of(true, false, OTHER));

        assertThat(endpoint.transport.calls).containsExactly("shutdownOutput");
        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.mpa.outputPermitted()).isFalse();
        assertThat(endpoint.upper.ulpdus).containsExactly(OTHER);
        endpoint.mpa.receiveEnd();
        endpoint.mpa.closed();
        assertThat(endpoint.upperEvents()).containsExactly("peerClosed", "closed true");
    }

    @Test
    void afterCloseWhatArrivesIsDiscarded() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);
        endpoint.upper.onUlpdu = endpoint.mpa::close;

        endpoint.input(ReferenceStream.of(true, false, ULPDU, OTHER));
        endpoint.input(ReferenceStream.of(true, false, OTHER));
        endpoint.mpa.receiveEnd();
        endpoint.mpa.closed();

        assertThat(endpoint.upper.ulpdus).hasSize(1);
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.upperEvents()).containsExactly("closed true");
    }

    @Test
    void abortEndsBothDirectionsAtOnce() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);
        endpoint.upper.onUlpdu = endpoint.mpa::abort;
        byte[] stream = ReferenceStream.of(true, false, ULPDU, OTHER);

        endpoint.inputInPieces(stream, 10);
        endpoint.upper.send(OTHER);
        endpoint.mpa.abort();
        endpoint.mpa.close();
        endpoint.mpa.closed();

        assertThat(endpoint.upper.ulpdus).hasSize(1);
        assertThat(endpoint.transport.calls).containsExactly("abort");
        assertThat(endpoint.upperEvents()).containsExactly("closed false");
        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.transport.buffersOut).isZero();
    }

    @Test
    @Requirement({"MPA-4.5-02", "MPA-3-02", "MPA-4.5-03"})
    void mulpduFollowsTheEmss() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, true, true);
        assertThat(endpoint.mpa.mulpdu()).isEqualTo(1442);

        endpoint.transport.emss = 8960;
        assertThat(endpoint.mpa.mulpdu()).isEqualTo(1442);
        endpoint.mpa.requestOutput();
        endpoint.output();
        assertThat(endpoint.mpa.mulpdu()).isEqualTo(8882);

        endpoint.transport.emss = 64;
        endpoint.mpa.requestOutput();
        endpoint.output();
        assertThat(endpoint.mpa.mulpdu()).isEqualTo(128);
        endpoint.upper.send(new byte[128]);
        assertThat(endpoint.output()).hasSize(4 + 2 + 128 + 2 + 4);
    }

    @Test
    @Requirement("MPA-3-04")
    void onLoopbackMulpduStaysBelowTheLimit() {
        Endpoint endpoint = new Endpoint(MpaRole.INITIATOR, DEFAULTS);
        endpoint.transport.emss = 65483;
        endpoint.output();
        endpoint.input(Frames.reply(false, true));

        assertThat(endpoint.mpa.mulpdu()).isEqualTo(64768);
    }

    @Test
    void anFpduKeepsWithinTheCapOfTheOptions() {
        Endpoint endpoint =
                Endpoint.establishedInitiator(DEFAULTS.with(policy -> policy.withMaxFpdu(1000)), false, true);

        assertThat(endpoint.mpa.mulpdu()).isEqualTo(994);
        endpoint.upper.send(new byte[994]);
        assertThat(endpoint.output()).hasSize(1000);
    }

    @Test
    void anFpduKeepsWithinABufferThatIsShorter() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, true, true);

        endpoint.mpa.requestOutput();
        endpoint.output(1024);
        assertThat(endpoint.mpa.mulpdu()).isEqualTo(1024 - 6 - 2 * 4);
        endpoint.upper.send(new byte[endpoint.mpa.mulpdu()]);
        assertThat(endpoint.output(1024)).hasSize(1024);
    }

    @Test
    @Requirement({"MPA-3-01", "MPA-5.1-02"})
    void aClaimWithoutRoomWaitsForTheNextBuffer() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, true, true);
        byte[][] ulpdus = new byte[50][];
        for (int i = 0; i < ulpdus.length; i++) {
            ulpdus[i] = numbered(i * 7 + 1, i);
        }

        endpoint.upper.send(ulpdus);

        assertThat(endpoint.output(400)).isEqualTo(ReferenceStream.of(true, true, ulpdus));
        assertThat(endpoint.upper.produceCalls).isGreaterThan(20);
    }

    @Test
    void positionsCountTheOctetsOfTheStream() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS.withPrivateData(new byte[10]), false, true);
        assertThat(endpoint.mpa.committedPosition()).isEqualTo(30);
        assertThat(endpoint.mpa.transferredPosition()).isEqualTo(30);

        endpoint.upper.send(ULPDU, OTHER);
        endpoint.output();

        assertThat(endpoint.upper.committed).containsExactly(30L + 48, 30L + 48 + 28);
        assertThat(endpoint.mpa.transferredPosition()).isEqualTo(30 + 48 + 28);
        assertThat(endpoint.upper.events).contains("transferred");
    }

    @Test
    void claimsAreForProduceOnly() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);

        assertThatIllegalStateException().isThrownBy(() -> endpoint.mpa.claim(10));
        assertThatIllegalStateException().isThrownBy(endpoint.mpa::commit);
        assertThatIllegalStateException().isThrownBy(endpoint.mpa::buffer);
        assertThatIllegalStateException().isThrownBy(endpoint.mpa::offset);
    }

    @ParameterizedTest(name = "{0} octets")
    @ValueSource(ints = {0, 1455})
    @Requirement("MPA-3-04")
    void aUlpduHasAnOctetAtLeastAndMulpduAtMost(int length) {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);
        endpoint.upper.send(new byte[length]);

        assertThatIllegalArgumentException().isThrownBy(endpoint::output);
    }

    @Test
    void anUncommittedClaimIsVoid() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);
        endpoint.upper.onDrained = () -> {
            assertThat(endpoint.mpa.claim(100)).isTrue();
            if (endpoint.upper.committed.isEmpty()) {
                endpoint.upper.send(ULPDU);
            }
        };
        endpoint.mpa.requestOutput();

        assertThat(endpoint.output()).isEqualTo(ReferenceStream.of(true, false, ULPDU));
    }
}
