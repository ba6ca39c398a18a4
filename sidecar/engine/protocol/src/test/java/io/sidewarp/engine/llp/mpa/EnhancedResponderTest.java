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
import io.sidewarp.engine.verbs.DepthNegotiation;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.RtrKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the Responder's side of start-up with revision 2 (RFC 6581). */
class EnhancedResponderTest {

    private static final int S = 0x10;
    private static final MpaOptions DEFAULTS = MpaOptions.defaults();

    private static MpaOptions depths(int ird, int ord) {
        return DEFAULTS.withDepths(ird, ord);
    }

    private static byte[] request(String data) {
        return Frames.request(Frames.C | S, 2, hex(data));
    }

    private static byte[] reply(String data) {
        return Frames.reply(Frames.C | S, 2, hex(data));
    }

    @Test
    @Requirement({"EMPA-6-02", "EMPA-9.1-01", "EMPA-9.1-03", "EMPA-10-01"})
    void answersAnEnhancedRequestWithWhatItReallyUses() {
        Endpoint endpoint = Endpoint.responder(depths(5, 20).withPrivateData(numbered(3, 7)));

        endpoint.input(Frames.request(Frames.C | S, 2, concat(hex("00100008"), numbered(2, 1))));

        byte[] expected = concat(hex("00050010"), numbered(3, 7));
        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C | S, 2, expected));
        assertThat(endpoint.requests.getFirst().peer()).isEqualTo(EnhancedData.clientServer(16, 8));
        MpaStartup agreed = endpoint.established.getFirst();
        assertThat(agreed.privateData()).isEqualTo(numbered(2, 1));
        assertThat(agreed.revision()).isEqualTo(2);
        assertThat(agreed.peer()).isEqualTo(EnhancedData.clientServer(16, 8));
        assertThat(agreed.ird()).isEqualTo(5);
        assertThat(agreed.ord()).isEqualTo(16);
    }

    @Test
    @Requirement("EMPA-9.1-01")
    void wantsNoMoreReadsThanTheInitiatorServes() {
        Endpoint endpoint = Endpoint.responder(depths(16, 16));

        endpoint.input(request("00040008"));

        assertThat(endpoint.output()).isEqualTo(reply("00100004"));
        assertThat(endpoint.established.getFirst().ord()).isEqualTo(4);
    }

    @ParameterizedTest(name = "{0} is answered {1}, with IRD {2} and ORD {3}")
    @CsvSource({
        "3fff3fff, 3fff3fff, 5, 20", //
        "3fff0008, 00053fff, 5, 20",
        "00083fff, 3fff0008, 5, 8"
    })
    @Requirement("EMPA-9.1-04")
    void leavesDepthsAloneThatTheInitiatorDoesNotNegotiate(String asked, String answered, int ird, int ord) {
        Endpoint endpoint = Endpoint.responder(depths(5, 20));

        endpoint.input(request(asked));

        assertThat(endpoint.output()).isEqualTo(reply(answered));
        assertThat(endpoint.established.getFirst().ird()).isEqualTo(ird);
        assertThat(endpoint.established.getFirst().ord()).isEqualTo(ord);
    }

    @ParameterizedTest(name = "{0}: IRD {1}, ORD {2}")
    @CsvSource({"00010001, 5, 1", "00300030, 5, 20", "3fff3fff, 5, 20"})
    @Requirement("EMPA-9.1-01")
    void negotiatesNoDepthsIfItsPolicySaysSoAndReadsNoMoreThanIsServed(String asked, int ird, int ord) {
        Endpoint endpoint = Endpoint.responder(depths(5, 20).with(policy -> policy.withDepths(DepthNegotiation.NONE)));

        endpoint.input(request(asked));

        assertThat(endpoint.output()).isEqualTo(reply("3fff3fff"));
        assertThat(endpoint.established.getFirst().ird()).isEqualTo(ird);
        assertThat(endpoint.established.getFirst().ord()).isEqualTo(ord);
    }

    @ParameterizedTest(name = "B, C and D of {0}")
    @CsvSource({
        "80010001, c001c000",
        // Linux cxgb4, which ends the connection when Write is offered too.
        "80014001, 80014000",
        "80018001, 80018000",
        "8001c001, 8001c000",
        "c0010001, c0010000",
        "c0014001, c0014000",
        "c0018001, c0018000",
        "c001c001, c001c000"
    })
    @Requirement("EMPA-9.2-01")
    void answersThePeerToPeerModelWithTheIndicationsItTakes(String asked, String answered) {
        Endpoint all = Endpoint.responder(depths(1, 0));
        Endpoint one = Endpoint.responder(depths(1, 0).with(policy -> policy.withRtr(RtrKind.WRITE)));

        all.input(request(asked));
        one.input(request(asked));

        assertThat(all.output()).isEqualTo(reply(answered));
        assertThat(one.output()).isEqualTo(reply("80018000"));
    }

    @Test
    @Requirement("EMPA-9.2-02")
    void answersTheClientServerModelWithNoIndicationWhateverTheFlags() {
        Endpoint endpoint = Endpoint.responder(depths(1, 1));

        endpoint.input(request("4001c001"));

        assertThat(endpoint.output()).isEqualTo(reply("00010001"));
        assertThat(endpoint.established.getFirst().rtrBySend()).isFalse();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"c0010001, true", "80010001, true", "80018001, false", "00010001, false"})
    void takesASendForAnIndicationWhenItOfferedIt(String asked, boolean expected) {
        Endpoint endpoint = Endpoint.responder(depths(1, 1));

        endpoint.input(request(asked));
        endpoint.output();

        assertThat(endpoint.established.getFirst().rtrBySend()).isEqualTo(expected);
    }

    @Test
    @Requirement("EMPA-9.2-01")
    void servesOneReadForTheIndicationIfItServesNoneElse() {
        Endpoint endpoint = Endpoint.responder(depths(0, 0));

        endpoint.input(request("80004000"));

        assertThat(endpoint.output()).isEqualTo(reply("80014000"));
        assertThat(endpoint.established.getFirst().ird()).isEqualTo(1);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"80000000", "c0000000"})
    @Requirement("EMPA-9.2-01")
    void servesOneReadForAnIndicationThatWasNotAskedForToo(String asked) {
        Endpoint endpoint = Endpoint.responder(depths(0, 0).with(policy -> policy.withRtr(RtrKind.READ)));

        endpoint.input(request(asked));

        assertThat(endpoint.output()).isEqualTo(reply("80014000"));
        assertThat(endpoint.established.getFirst().ird()).isEqualTo(1);
    }

    @ParameterizedTest(name = "Rev {0}")
    @ValueSource(ints = {1, 2})
    @Requirement({"EMPA-6-03", "EMPA-10-01"})
    void answersAnUnenhancedRequestUnenhanced(int revision) {
        Endpoint endpoint = Endpoint.responder(depths(5, 5));

        endpoint.input(Frames.request(Frames.C, revision, numbered(6, 0)));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C, revision, new byte[0]));
        assertThat(endpoint.established.getFirst().peer()).isNull();
        assertThat(endpoint.established.getFirst().privateData()).isEqualTo(numbered(6, 0));
    }

    @Test
    @Requirement("EMPA-9.1-03")
    void tellsTheOrdThatItNeedsWhenItRejects() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);
        endpoint.onRequest = () -> endpoint.mpa.reject(depths(3, 24).withPrivateData(numbered(1, 9)));

        endpoint.input(request("00100010"));

        byte[] expected = concat(hex("00030018"), numbered(1, 9));
        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C | Frames.R | S, 2, expected));
    }

    @ParameterizedTest(name = "{0} octets of Private Data")
    @ValueSource(ints = {0, 3})
    @Requirement("EMPA-6-02")
    void closesWhenThePrivateDataHasNoRoomForTheEnhancedData(int length) {
        Endpoint endpoint = Endpoint.responder(DEFAULTS);

        endpoint.input(Frames.request(Frames.C | S, 2, new byte[length]));

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.transport.calls).containsExactly("close");
    }

    @Test
    @Requirement("EMPA-6-02")
    void leaves508OctetsToTheConsumer() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);
        endpoint.input(request("00010001"));

        assertThat(endpoint.requests.getFirst().replyRoom()).isEqualTo(508);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> endpoint.mpa.accept(DEFAULTS.withPrivateData(new byte[509])));
        endpoint.mpa.accept(DEFAULTS.withPrivateData(new byte[508]));
        assertThat(endpoint.output()).hasSize(20 + 512);
    }

    @Test
    @Requirement("EMPA-10-01")
    void withoutRevision2ItClosesOnAnEnhancedRequest() {
        Endpoint endpoint = Endpoint.responder(DEFAULTS.with(StartupPolicyTest::revision1Only));

        endpoint.input(request("00010001"));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C | Frames.R, 1, new byte[0]));
        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.transport.calls).containsExactly("close");
    }
}
