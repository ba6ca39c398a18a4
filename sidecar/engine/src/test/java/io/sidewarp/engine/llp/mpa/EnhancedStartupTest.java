// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.llp.mpa.Frames.concat;
import static io.sidewarp.engine.llp.mpa.Frames.numbered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.llp.LlpError;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Start-up with revision 2 (RFC 6581). */
class EnhancedStartupTest {

    private static final int S = 0x10;
    private static final MpaOptions DEFAULTS = MpaOptions.defaults();

    private static MpaOptions depths(int ird, int ord) {
        return DEFAULTS.withEnhanced(EnhancedData.clientServer(ird, ord));
    }

    private static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits);
    }

    @ParameterizedTest
    @CsvSource({
        // A B IRD C D ORD
        "00100008, false, false, false, false, 16, 8",
        "80010002, true, false, false, false, 1, 2",
        "c0010002, true, true, false, false, 1, 2",
        "80018002, true, false, true, false, 1, 2",
        "80014002, true, false, false, true, 1, 2",
        "ffffffff, true, true, true, true, 16383, 16383",
    })
    @Requirement("EMPA-9-01")
    void placesEachFieldWhereTheRfcHasIt(String word, boolean a, boolean b, boolean c, boolean d, int ird, int ord) {
        EnhancedData data = new EnhancedData(a, b, c, d, ird, ord);

        assertThat(data.encode()).isEqualTo((int) Long.parseLong(word, 16));
        assertThat(EnhancedData.decode((int) Long.parseLong(word, 16))).isEqualTo(data);
    }

    @Test
    @Requirement("EMPA-9.2-02")
    void ignoresRtrKindsOfAClientServerPeer() {
        assertThat(EnhancedData.decode(0x4001_C002)).isEqualTo(EnhancedData.clientServer(1, 2));
    }

    @Test
    void refusesDepthsOfMoreThan14Bits() {
        assertThatIllegalArgumentException().isThrownBy(() -> EnhancedData.clientServer(0x4000, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> EnhancedData.clientServer(0, -1));
    }

    @Test
    @Requirement({"EMPA-6-02", "EMPA-9.1-01", "EMPA-9.1-03", "EMPA-10-01"})
    void answersAnEnhancedRequestWithWhatItReallyUses() {
        Endpoint endpoint = Endpoint.responder(depths(5, 20).withPrivateData(numbered(3, 7)));

        endpoint.input(Frames.request(Frames.C | S, 2, concat(hex("00100008"), numbered(2, 1))));

        byte[] expected = concat(hex("00050010"), numbered(3, 7));
        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C | S, 2, expected));
        MpaStartup agreed = endpoint.established.getFirst();
        assertThat(agreed.privateData()).isEqualTo(numbered(2, 1));
        assertThat(agreed.revision()).isEqualTo(2);
        assertThat(agreed.peer()).isEqualTo(EnhancedData.clientServer(16, 8));
        assertThat(agreed.ird(5)).isEqualTo(5);
        assertThat(agreed.ord(20)).isEqualTo(16);
    }

    @Test
    @Requirement("EMPA-9.1-04")
    void leavesDepthsAloneThatTheInitiatorDoesNotNegotiate() {
        Endpoint endpoint = Endpoint.responder(depths(5, 20));

        endpoint.input(Frames.request(Frames.C | S, 2, hex("3fff3fff")));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C | S, 2, hex("3fff3fff")));
        assertThat(endpoint.established.getFirst().ird(5)).isEqualTo(5);
        assertThat(endpoint.established.getFirst().ord(20)).isEqualTo(20);
    }

    @ParameterizedTest
    @ValueSource(strings = {"80008000", "c0000000"})
    @Requirement("EMPA-9.2-01")
    void answersThePeerToPeerModelWithTheIndicationsItTakes(String request) {
        Endpoint endpoint = Endpoint.responder(depths(1, 0));

        endpoint.input(Frames.request(Frames.C | S, 2, hex(request)));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C | S, 2, hex("8001c000")));
    }

    @Test
    @Requirement("EMPA-9.2-01")
    void servesOneReadForTheIndicationIfItServesNoneElse() {
        Endpoint endpoint = Endpoint.responder(depths(0, 0));

        endpoint.input(Frames.request(Frames.C | S, 2, hex("80004000")));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C | S, 2, hex("8001c000")));
        assertThat(endpoint.established.getFirst().ird(0)).isEqualTo(1);
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
    void tellsItsDepthsAlsoWhenItRejects() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, depths(3, 4));
        endpoint.onRequest = () -> endpoint.mpa.reject(numbered(1, 9));

        endpoint.input(Frames.request(Frames.C | S, 2, hex("00100010")));

        byte[] expected = concat(hex("00030004"), numbered(1, 9));
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
    @Requirement({"EMPA-6-01", "EMPA-6-02"})
    void sendsAnEnhancedRequestWhenAskedTo() {
        Endpoint endpoint = Endpoint.initiator(depths(2, 9).withRevision(2).withPrivateData(numbered(4, 1)));

        byte[] expected = concat(hex("00020009"), numbered(4, 1));
        assertThat(endpoint.output()).isEqualTo(Frames.request(Frames.C | S, 2, expected));
    }

    @Test
    @Requirement({"EMPA-9.1-02", "EMPA-9.1-03"})
    void lowersItsOrdToWhatTheResponderServes() {
        Endpoint endpoint = Endpoint.initiator(depths(2, 9).withRevision(2));
        endpoint.output();

        endpoint.input(Frames.reply(Frames.C | S, 2, concat(hex("00040002"), numbered(1, 6))));

        MpaStartup agreed = endpoint.established.getFirst();
        assertThat(agreed.privateData()).isEqualTo(numbered(1, 6));
        assertThat(agreed.peer()).isEqualTo(EnhancedData.clientServer(4, 2));
        assertThat(agreed.ord(9)).isEqualTo(4);
        assertThat(agreed.ird(2)).isEqualTo(2);
    }

    @Test
    @Requirement("EMPA-6-02")
    void leaves508OctetsToTheConsumer() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS.withRevision(2).withPrivateData(new byte[508]));
        assertThat(endpoint.output()).hasSize(20 + 512);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Endpoint.initiator(DEFAULTS.withRevision(2).withPrivateData(new byte[509])));
    }
}
