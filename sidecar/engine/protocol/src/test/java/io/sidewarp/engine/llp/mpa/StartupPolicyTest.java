// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.llp.mpa.Frames.hex;
import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.MpaPolicy;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests policies of a side that refuse a peer although its frames are valid. */
class StartupPolicyTest {

    private static final MpaOptions CRC_REQUIRED =
            MpaOptions.defaults().with(policy -> policy.withCrc(CrcPolicy.REQUIRED));

    static MpaPolicy revision1Only(MpaPolicy policy) {
        return policy.withRevisions(Set.of(1), 1);
    }

    @Test
    void aResponderThatRequiresCrcsRejectsARequestWithoutThem() {
        Endpoint endpoint = Endpoint.responder(CRC_REQUIRED);

        endpoint.input(Frames.request(false, false));

        assertThat(endpoint.requests).isEmpty();
        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C | Frames.R, 1, new byte[0]));
        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.messages.getFirst()).contains("C=0", "required");
        assertThat(endpoint.transport.calls).containsExactly("close");
    }

    @ParameterizedTest(name = "Rev {0}, S {1}")
    @CsvSource({"1, 0, '', ''", "2, 0, '', ''", "2, 16, 00040008, 00100004"})
    @Requirement({"EMPA-6-03", "EMPA-10-01"})
    void aRejectionByPolicyHasTheRevisionAndTheFormOfTheRequest(int rev, int s, String asked, String answered) {
        Endpoint endpoint = Endpoint.responder(CRC_REQUIRED);

        endpoint.input(Frames.request(s, rev, hex(asked)));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C | Frames.R | s, rev, hex(answered)));
        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.transport.calls).containsExactly("close");
    }

    @Test
    void anInitiatorThatRequiresCrcsLeavesAPeerWithoutThem() {
        Endpoint endpoint = Endpoint.initiator(CRC_REQUIRED);
        endpoint.output();

        endpoint.input(Frames.reply(false, false));

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.established).isEmpty();
    }

    @Test
    void aSideThatRequiresCrcsWorksWithAPeerThatDeclaresThem() {
        assertThat(Endpoint.establishedInitiator(CRC_REQUIRED, false, true).established)
                .hasSize(1);
        assertThat(Endpoint.establishedResponder(CRC_REQUIRED, false, true).established)
                .hasSize(1);
    }

    @Test
    @Requirement("MPA-4.4-01")
    void onlyARefusalDeclaresAPreferenceAgainstCrcs() {
        assertThat(Endpoint.initiator(MpaOptions.defaults()).output()[16]).isEqualTo((byte) Frames.C);
        assertThat(Endpoint.initiator(CRC_REQUIRED).output()[16]).isEqualTo((byte) Frames.C);
        assertThat(Endpoint.initiator(MpaOptions.defaults().with(bits(false, false)))
                        .output()[16])
                .isZero();
    }

    @Test
    void theConsumersPolicyIsAskedBeforeItAccepts() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, MpaOptions.defaults());
        endpoint.input(Frames.request(false, false));
        MpaStartup request = endpoint.requests.getFirst();

        assertThat(MpaConnection.refusal(CRC_REQUIRED.policy(), request)).isPresent();
        assertThat(MpaConnection.refusal(MpaPolicy.defaults(), request)).isEmpty();
        assertThat(MpaConnection.refusal(MpaPolicy.defaults().withRevisions(Set.of(2), 2), request))
                .isPresent();
    }
}
