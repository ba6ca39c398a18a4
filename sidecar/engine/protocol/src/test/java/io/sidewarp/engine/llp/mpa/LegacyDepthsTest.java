// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.llp.mpa.Frames.concat;
import static io.sidewarp.engine.llp.mpa.Frames.hex;
import static io.sidewarp.engine.llp.mpa.Frames.numbered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.verbs.DepthNegotiation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests IRD and ORD in 8 bytes of the Private Data of revision 1, as Windows sends them for SMB Direct. */
class LegacyDepthsTest {

    private static final MpaOptions LEGACY =
            MpaOptions.defaults().withDepths(5, 20).with(policy -> policy.withDepths(DepthNegotiation.PRIVATE_DATA));

    @Test
    void theInitiatorTellsAndTakesThem() {
        Endpoint endpoint = Endpoint.initiator(LEGACY.withPrivateData(numbered(3, 1)));

        assertThat(endpoint.output())
                .isEqualTo(Frames.request(Frames.C, 1, concat(hex("0000000500000014"), numbered(3, 1))));
        endpoint.input(Frames.reply(Frames.C, 1, concat(hex("0000000400000003"), numbered(2, 7))));

        MpaStartup agreed = endpoint.established.getFirst();
        assertThat(agreed.ord()).isEqualTo(4);
        assertThat(agreed.ird()).isEqualTo(5);
        assertThat(agreed.privateData()).isEqualTo(numbered(2, 7));
        assertThat(agreed.rtr()).isNull();
    }

    @Test
    void theResponderTakesAndTellsThem() {
        Endpoint endpoint = Endpoint.responder(LEGACY);

        endpoint.input(Frames.request(Frames.C, 1, hex("0000001000000008")));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C, 1, hex("0000000500000010")));
        MpaStartup agreed = endpoint.established.getFirst();
        assertThat(agreed.peer()).isEqualTo(EnhancedData.clientServer(16, 8));
        assertThat(agreed.ird()).isEqualTo(5);
        assertThat(agreed.ord()).isEqualTo(16);
        assertThat(agreed.privateData()).isEmpty();
    }

    /** The words cannot say that nothing is negotiated. */
    @Test
    void theResponderTellsThemAlsoWhenItIsAcceptedWithoutNegotiation() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, LEGACY);
        endpoint.onRequest = () -> endpoint.mpa.accept(LEGACY.with(policy -> policy.withDepths(DepthNegotiation.NONE)));

        endpoint.input(Frames.request(Frames.C, 1, hex("0000001000000008")));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C, 1, hex("0000000500000010")));
        assertThat(endpoint.established.getFirst().ird()).isEqualTo(5);
        assertThat(endpoint.established.getFirst().ord()).isEqualTo(16);
    }

    @ParameterizedTest(name = "{0} is {1}")
    @CsvSource({"00003ffe, 16382", "00003fff, 16382", "ffffffff, 16382", "00000000, 0"})
    void boundsWhatThePeerSays(String told, int taken) {
        Endpoint endpoint = Endpoint.responder(LEGACY);

        endpoint.input(Frames.request(Frames.C, 1, hex(told + told)));

        assertThat(endpoint.established).isEmpty();
        assertThat(endpoint.requests.getFirst().peer()).isEqualTo(EnhancedData.clientServer(taken, taken));
    }

    @Test
    void aPeerWithoutThemGetsNone() {
        Endpoint endpoint = Endpoint.responder(LEGACY);

        endpoint.input(Frames.request(Frames.C, 1, numbered(7, 1)));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C, 1, new byte[0]));
        assertThat(endpoint.established.getFirst().privateData()).isEqualTo(numbered(7, 1));
        assertThat(endpoint.established.getFirst().ord()).isEqualTo(20);
    }

    @Test
    void withoutTheSettingTheyAreTheConsumersOwn() {
        Endpoint endpoint = Endpoint.responder(MpaOptions.defaults());

        endpoint.input(Frames.request(Frames.C, 1, hex("0000001000000008")));

        assertThat(endpoint.requests.getFirst().peer()).isNull();
        assertThat(endpoint.requests.getFirst().privateData()).isEqualTo(hex("0000001000000008"));
    }

    @Test
    void revision2HasItsOwnForm() {
        Endpoint endpoint = Endpoint.initiator(LEGACY.with(policy -> policy.withRequestRevision(2)));

        assertThat(endpoint.output()).isEqualTo(Frames.request(Frames.C | 0x10, 2, hex("00050014")));
    }

    @Test
    void leaves504OctetsToTheConsumer() {
        assertThat(LEGACY.requestRoom()).isEqualTo(504);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Endpoint.initiator(LEGACY.withPrivateData(new byte[505])));
    }
}
