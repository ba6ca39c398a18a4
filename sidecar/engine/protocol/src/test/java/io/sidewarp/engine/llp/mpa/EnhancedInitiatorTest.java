// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.llp.mpa.Frames.concat;
import static io.sidewarp.engine.llp.mpa.Frames.hex;
import static io.sidewarp.engine.llp.mpa.Frames.numbered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.DepthNegotiation;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.RtrKind;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the Initiator's side of start-up with revision 2 (RFC 6581). */
class EnhancedInitiatorTest {

    private static final int S = 0x10;
    private static final MpaOptions DEFAULTS = MpaOptions.defaults().with(policy -> policy.withRequestRevision(2));

    private static MpaOptions depths(int ird, int ord) {
        return DEFAULTS.withDepths(ird, ord);
    }

    private static MpaOptions peerToPeer(RtrKind... rtr) {
        return depths(2, 9).with(policy -> policy.withPeerToPeer(true).withRtr(rtr));
    }

    private static Endpoint answered(MpaOptions options, String data) {
        Endpoint endpoint = Endpoint.initiator(options);
        endpoint.output();
        endpoint.input(Frames.reply(Frames.C | S, 2, hex(data)));
        return endpoint;
    }

    @Test
    @Requirement({"EMPA-6-01", "EMPA-6-02"})
    void sendsAnEnhancedRequest() {
        Endpoint endpoint = Endpoint.initiator(depths(2, 9).withPrivateData(numbered(10, 1)));

        byte[] expected = concat(hex("00020009"), numbered(10, 1));
        assertThat(endpoint.output()).isEqualTo(Frames.request(Frames.C | S, 2, expected));
    }

    @Test
    @Requirement("EMPA-6-01")
    void keepsTheBitOfSClearInRevision1() {
        Endpoint endpoint = Endpoint.initiator(MpaOptions.defaults());

        assertThat(endpoint.output()).isEqualTo(Frames.request(Frames.C, 1, new byte[0]));
    }

    @Test
    @Requirement("EMPA-10-01")
    void usesRevision1WhenNothingEnhancedIsWanted() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS.with(policy -> policy.withDepths(DepthNegotiation.NONE)));

        assertThat(endpoint.output()).isEqualTo(Frames.request(Frames.C, 1, new byte[0]));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "SEND, c0020009",
        "WRITE, 80028009",
        "READ, 80024009",
        "SEND WRITE, c0028009",
        "SEND READ, c0024009",
        "WRITE READ, 8002c009",
        "READ WRITE SEND, c002c009"
    })
    @Requirement("EMPA-9.2-01")
    void asksForThePeerToPeerModelWithEachKindItCanSend(String kinds, String expected) {
        RtrKind[] rtr = Arrays.stream(kinds.split(" ")).map(RtrKind::valueOf).toArray(RtrKind[]::new);

        Endpoint endpoint = Endpoint.initiator(peerToPeer(rtr));

        assertThat(endpoint.output()).isEqualTo(Frames.request(Frames.C | S, 2, hex(expected)));
    }

    @Test
    @Requirement("EMPA-9.2-02")
    void asksForTheClientServerModelWithNoKind() {
        Endpoint endpoint = Endpoint.initiator(depths(2, 9));

        assertThat(endpoint.output()).isEqualTo(Frames.request(Frames.C | S, 2, hex("00020009")));
    }

    @Test
    @Requirement({"EMPA-9.1-02", "EMPA-9.1-03"})
    void lowersItsOrdToWhatTheResponderServes() {
        Endpoint endpoint = Endpoint.initiator(depths(2, 9));
        endpoint.output();

        endpoint.input(Frames.reply(Frames.C | S, 2, concat(hex("00040002"), numbered(1, 6))));

        MpaStartup agreed = endpoint.established.getFirst();
        assertThat(agreed.privateData()).isEqualTo(numbered(1, 6));
        assertThat(agreed.peer()).isEqualTo(EnhancedData.clientServer(4, 2));
        assertThat(agreed.ord()).isEqualTo(4);
        assertThat(agreed.ird()).isEqualTo(2);
    }

    @Test
    @Requirement("EMPA-9.1-02")
    void reportsThatItCannotServeWhatTheResponderWants() {
        Endpoint endpoint = answered(depths(2, 9), "00090003");

        assertThat(endpoint.established.getFirst().error()).isEqualTo(LlpError.INSUFFICIENT_IRD);
        assertThat(endpoint.upperEvents()).containsExactly("error 6");
        assertThat(endpoint.mpa.outputPermitted()).isTrue();
    }

    @Test
    @Requirement("EMPA-9.1-04")
    void leavesItsDepthsAloneWhereTheResponderDoesNotNegotiate() {
        MpaStartup agreed = answered(depths(2, 9), "3fff3fff").established.getFirst();

        assertThat(agreed.ird()).isEqualTo(2);
        assertThat(agreed.ord()).isEqualTo(9);
    }

    @Test
    @Requirement("EMPA-9.1-04")
    void leavesItsDepthsAloneIfItDoesNotNegotiateItself() {
        MpaOptions options = peerToPeer(RtrKind.WRITE).with(policy -> policy.withDepths(DepthNegotiation.NONE));
        Endpoint endpoint = Endpoint.initiator(options);

        assertThat(endpoint.output()).isEqualTo(Frames.request(Frames.C | S, 2, hex("bfffbfff")));
        endpoint.input(Frames.reply(Frames.C | S, 2, hex("80018040")));

        assertThat(endpoint.established.getFirst().ird()).isEqualTo(2);
        assertThat(endpoint.established.getFirst().ord()).isEqualTo(9);
    }

    @ParameterizedTest(name = "{0} and a Reply of {1}")
    @CsvSource({
        "WRITE READ SEND, c009c002, WRITE",
        "READ WRITE SEND, c009c002, READ",
        "SEND WRITE READ, c009c002, SEND",
        "SEND READ WRITE, 80098002, WRITE",
        "SEND WRITE READ, 80094002, READ",
        "WRITE READ SEND, c0090002, SEND",
        // A Read needs room at the Responder.
        "READ SEND, c000c002, SEND"
    })
    @Requirement("EMPA-9.2-03")
    void indicatesByTheKindItLikesBestAmongThoseOfTheReply(String kinds, String reply, RtrKind expected) {
        RtrKind[] rtr = Arrays.stream(kinds.split(" ")).map(RtrKind::valueOf).toArray(RtrKind[]::new);

        assertThat(answered(peerToPeer(rtr), reply).established.getFirst().rtr())
                .isEqualTo(expected);
    }

    @ParameterizedTest(name = "a Reply of {0}")
    @ValueSource(strings = {"c0090002", "80094002", "80090002", "00098002"})
    @Requirement("EMPA-9.2-04")
    void reportsThatThereIsNoIndicationItCanSend(String reply) {
        Endpoint endpoint = answered(peerToPeer(RtrKind.WRITE), reply);

        assertThat(endpoint.established.getFirst().error()).isEqualTo(LlpError.NO_MATCHING_RTR);
        assertThat(endpoint.upperEvents()).containsExactly("error 7");
    }

    @Test
    @Requirement("EMPA-9.2-04")
    void reportsThatItCannotDoWithoutCrcsOfTheResponder() {
        Endpoint endpoint = Endpoint.initiator(depths(2, 9).with(policy -> policy.withCrc(CrcPolicy.REQUIRED)));
        endpoint.output();

        endpoint.input(Frames.reply(S, 2, hex("00090002")));

        assertThat(endpoint.established.getFirst().error()).isEqualTo(LlpError.LOCAL_CATASTROPHIC);
        assertThat(endpoint.established.getFirst().crc()).isTrue();
        assertThat(endpoint.upperEvents()).containsExactly("error 5");
        assertThat(endpoint.mpa.outputPermitted()).isTrue();
        assertThat(endpoint.failures).isEmpty();
    }

    @Test
    void passesNoFpduUpOnceStartUpHasFailed() {
        Endpoint endpoint = Endpoint.initiator(peerToPeer(RtrKind.WRITE));
        endpoint.output();

        endpoint.input(
                concat(Frames.reply(Frames.C | S, 2, hex("00090002")), ReferenceStream.of(true, false, new byte[20])));

        assertThat(endpoint.upper.ulpdus).isEmpty();
    }

    @Test
    @Requirement("EMPA-9.1-03")
    void reportsTheDepthsOfARejection() {
        Endpoint endpoint = Endpoint.initiator(depths(2, 9));
        endpoint.output();

        endpoint.input(Frames.reply(Frames.C | Frames.R | S, 2, concat(hex("00040018"), numbered(1, 6))));

        assertThat(endpoint.rejections.getFirst().peer()).isEqualTo(EnhancedData.clientServer(4, 24));
        assertThat(endpoint.rejections.getFirst().privateData()).isEqualTo(numbered(1, 6));
    }

    @ParameterizedTest(name = "flags {0}, Rev {1}")
    @CsvSource({"64, 1", "64, 0", "192, 0", "96, 1", "64, 2"})
    @Requirement("EMPA-10-01")
    void proposesRevision1WhenTheAnswerIsUnenhanced(int flags, int revision) {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.output();

        endpoint.input(Frames.reply(flags, revision, new byte[4]));
        endpoint.mpa.closed();

        assertThat(endpoint.unenhanced).hasSize(1);
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.transport.buffersOut).isZero();
        assertThat(endpoint.failures).isEmpty();
        assertThat(endpoint.rejections).isEmpty();
        assertThat(endpoint.established).isEmpty();
    }

    @ParameterizedTest(name = "reset {0}")
    @ValueSource(booleans = {false, true})
    @Requirement("EMPA-10-01")
    void proposesRevision1WhenThePeerClosesWithoutAnAnswer(boolean reset) {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.output();

        if (reset) {
            endpoint.mpa.receiveLost("reset");
        } else {
            endpoint.mpa.receiveEnd();
            endpoint.mpa.closed();
        }

        assertThat(endpoint.unenhanced).hasSize(1);
        assertThat(endpoint.failures).isEmpty();
    }

    @Test
    void proposesNothingWhenThePeerClosesBehindOctetsOfAnAnswer() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.output();
        endpoint.input(new byte[] {'M'});

        endpoint.mpa.receiveEnd();

        assertThat(endpoint.unenhanced).isEmpty();
        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
    }

    @Test
    void proposesNothingWhenThisSideGivesUp() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.output();

        endpoint.mpa.abort();
        endpoint.mpa.closed();

        assertThat(endpoint.unenhanced).isEmpty();
        assertThat(endpoint.failures).containsExactly(LlpError.CONNECTION_LOST);
    }

    @ParameterizedTest(name = "Rev {0}")
    @ValueSource(ints = {1, 2})
    @Requirement("EMPA-10-01")
    void failsWithAnUnenhancedPeerIfRevision1IsNotPermitted(int revision) {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS.with(policy -> policy.withRevisions(Set.of(2), 2)));
        endpoint.output();

        endpoint.input(Frames.reply(Frames.C, revision, new byte[0]));

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.messages.getFirst()).contains("does not know MPA revision 2", "is not permitted here");
        assertThat(endpoint.transport.calls).containsExactly("close");
    }

    @Test
    @Requirement("EMPA-6-03")
    void takesNoEnhancedReplyToAnUnenhancedRequest() {
        Endpoint endpoint = Endpoint.initiator(MpaOptions.defaults());
        endpoint.output();

        endpoint.input(Frames.reply(Frames.C | S, 2, hex("00010001")));

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
    }

    @ParameterizedTest(name = "{0} octets of Private Data")
    @ValueSource(ints = {0, 3})
    @Requirement("EMPA-6-02")
    void closesWhenThePrivateDataHasNoRoomForTheEnhancedData(int length) {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.output();

        endpoint.input(Frames.reply(Frames.C | S, 2, new byte[length]));

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.transport.calls).containsExactly("close");
    }

    @Test
    @Requirement("EMPA-6-02")
    void leaves508OctetsToTheConsumer() {
        MpaOptions enhancedOnly = DEFAULTS.with(policy -> policy.withRevisions(Set.of(2), 2));
        Endpoint endpoint = Endpoint.initiator(enhancedOnly.withPrivateData(new byte[508]));

        assertThat(endpoint.output()).hasSize(20 + 512);
        assertThat(enhancedOnly.requestRoom()).isEqualTo(508);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Endpoint.initiator(enhancedOnly.withPrivateData(new byte[509])));
    }

    @Test
    void usesRevision1WhenTheConsumerNeedsMoreThan508Octets() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS.withPrivateData(new byte[509]));

        assertThat(endpoint.output()).isEqualTo(Frames.request(Frames.C, 1, new byte[509]));
    }

    @Test
    void thePeerToPeerModelLeaves508OctetsToTheConsumer() {
        MpaOptions options = peerToPeer(RtrKind.WRITE).withPrivateData(new byte[509]);

        assertThat(options.requestRevision()).isEqualTo(2);
        assertThat(options.requestRoom()).isEqualTo(508);
        assertThatIllegalArgumentException().isThrownBy(() -> Endpoint.initiator(options));
    }

    @Test
    void refusesPoliciesThatCannotWork() {
        MpaPolicy policy = MpaPolicy.defaults();

        assertThatIllegalArgumentException().isThrownBy(() -> policy.withRevisions(Set.of(1), 2));
        assertThatIllegalArgumentException().isThrownBy(() -> policy.withRevisions(Set.of(0), 0));
        assertThatIllegalArgumentException().isThrownBy(() -> policy.withRevisions(Set.of(1, 3), 1));
        assertThatIllegalArgumentException().isThrownBy(() -> policy.withRtr());
        assertThatIllegalArgumentException().isThrownBy(() -> policy.withRtr(List.of(RtrKind.SEND, RtrKind.SEND)));
        assertThatIllegalArgumentException().isThrownBy(() -> policy.withMaxFpdu(-1));
    }
}
