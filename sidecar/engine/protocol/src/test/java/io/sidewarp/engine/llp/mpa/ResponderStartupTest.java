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
import io.sidewarp.engine.verbs.LlpError;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResponderStartupTest {

    private static final MpaOptions DEFAULTS = MpaOptions.defaults();
    /** Not permissive: RDMAC peers are refused (RFC 5044 C.2). */
    private static final MpaOptions IETF_ONLY = DEFAULTS.with(policy -> policy.withRevisions(Set.of(1, 2), 1));

    @Test
    @Requirement("MPA-7.1.2-02")
    void staysSilentUntilARequestHasArrived() {
        Endpoint endpoint = Endpoint.responder(DEFAULTS);
        byte[] request = Frames.request(Frames.C, 1, new byte[3]);

        endpoint.transport.outputRequested = true;
        assertThat(endpoint.output()).isEmpty();
        endpoint.input(Arrays.copyOf(request, request.length - 1));
        endpoint.transport.outputRequested = true;
        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.requests).isEmpty();

        endpoint.input(new byte[1]);
        assertThat(endpoint.output()).hasSize(20);
        assertThat(endpoint.established).hasSize(1);
    }

    @Test
    @Requirement({
        "MPA-7.1.1-01",
        "MPA-7.1.1-03",
        "MPA-7.1.1-06",
        "MPA-7.1.1-07",
        "MPA-7.1.1-08",
        "MPA-7.1-03",
        "MPA-7.1.2-05",
        "MPA-4.4-01"
    })
    void acceptsWithAReply() {
        Endpoint endpoint = Endpoint.responder(DEFAULTS);

        endpoint.input(Frames.request(false, false));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C, 1, new byte[0]));
    }

    @ParameterizedTest(name = "{0} octets of Private Data")
    @ValueSource(ints = {0, 1, 512})
    @Requirement({"MPA-7.1.1-10", "MPA-7.1.1-11", "MPA-7.1-03"})
    void carriesPrivateDataUnchangedBothWays(int length) {
        Endpoint endpoint = Endpoint.responder(DEFAULTS.withPrivateData(numbered(length, 5)));

        endpoint.input(Frames.request(Frames.C, 1, numbered(length, 2)));

        assertThat(endpoint.requests.getFirst().privateData()).isEqualTo(numbered(length, 2));
        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C, 1, numbered(length, 5)));
        assertThat(endpoint.established.getFirst().privateData()).isEqualTo(numbered(length, 2));
    }

    @ParameterizedTest(name = "own M {0} C {1}, peer''s M {2} C {3}")
    @CsvSource({
        "false, false, false, false",
        "false, false, true, true",
        "false, false, false, true",
        "false, true, false, false",
        "true, false, false, false",
        "true, false, false, true",
        "true, true, true, true",
    })
    @Requirement({"MPA-7.1.1-04", "MPA-7.1.1-05", "MPA-7.1.1-09", "MPA-C.3-01", "MPA-3-07"})
    void agreesWithTheRequest(boolean m, boolean c, boolean peerM, boolean peerC) {
        MpaOptions options = DEFAULTS.with(bits(m, c));
        Endpoint endpoint = Endpoint.responder(options);

        endpoint.input(Frames.request(peerM, peerC));
        byte[] reply = endpoint.output();

        assertThat(reply).isEqualTo(Frames.reply(m, c || peerC));
        MpaStartup agreed = endpoint.established.getFirst();
        assertThat(agreed.sendMarkers()).isEqualTo(peerM);
        assertThat(agreed.receiveMarkers()).isEqualTo(m);
        assertThat(agreed.crc()).isEqualTo(c || peerC);
        assertThat(endpoint.mpa.protocolVersion()).isEqualTo(1);
        assertThat(endpoint.requests.getFirst()).usingRecursiveComparison().isEqualTo(agreed);
    }

    @Test
    @Requirement("MPA-7.1-02")
    void letsTheConsumerDecideLaterWithOtherOptionsAndAnotherEndpoint() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);
        endpoint.onEstablished = () -> {};
        endpoint.input(Frames.request(false, false));
        assertThat(endpoint.output()).isEmpty();

        endpoint.mpa.attach(endpoint.upper);
        endpoint.mpa.accept(DEFAULTS.with(bits(true, false)).withPrivateData(new byte[] {9}));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.M, 1, new byte[] {9}));
        assertThat(endpoint.established.getFirst().crc()).isFalse();
        assertThat(endpoint.established.getFirst().receiveMarkers()).isTrue();
    }

    @Test
    @Requirement({"MPA-7.1.2-04", "MPA-7.1.1-06"})
    void rejectsWithAReplyAndClosesBehindIt() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);
        endpoint.onRequest = () -> endpoint.mpa.reject(DEFAULTS.withPrivateData(numbered(4, 1)));

        endpoint.input(Frames.request(false, true));
        assertThat(endpoint.transport.calls).isEmpty();

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.R | Frames.C, 1, numbered(4, 1)));
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.established).isEmpty();
        assertThat(endpoint.failures).isEmpty();
    }

    @Test
    void aRejectionOfAPeerThatNeedsCrcsDeclaresThemToo() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);
        endpoint.onRequest = () -> endpoint.mpa.reject(DEFAULTS.with(bits(false, false)));

        endpoint.input(Frames.request(false, true));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.R | Frames.C, 1, new byte[0]));
    }

    @Test
    @Requirement("MPA-7.1.2-04")
    void rejectsAndLeavesTcpToTheConsumerIfAsked() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);
        endpoint.onRequest = () -> endpoint.mpa.reject(DEFAULTS.withCloseOnReject(false));

        endpoint.input(Frames.request(false, true));
        endpoint.output();

        assertThat(endpoint.transport.calls).isEmpty();
        assertThat(endpoint.input(new byte[10])).isZero();
    }

    @Test
    void closesBehindARejectionThatIsNotOutYet() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);
        endpoint.onRequest = () -> endpoint.mpa.reject(DEFAULTS);
        endpoint.input(Frames.request(false, true));

        endpoint.mpa.close();
        assertThat(endpoint.transport.calls).isEmpty();

        assertThat(endpoint.output()).hasSize(20);
        assertThat(endpoint.transport.calls).contains("close");
    }

    @ParameterizedTest(name = "octet {0} of the Key")
    @ValueSource(ints = {0, 7, 9, 15})
    @Requirement({"MPA-7.1.1-02", "MPA-7.1.2-03", "MPA-8-04", "MPA-8-05"})
    void closesWithoutAReplyWhenTheKeyIsWrong(int octet) {
        byte[] request = Frames.request(false, true);
        request[octet] ^= 1;

        assertClosedWithoutReply(request);
    }

    @Test
    @Requirement({"MPA-7.1.2-03", "MPA-8-04"})
    void seesAtTheFirstWrongOctetThatAStrangerCalls() {
        assertClosedWithoutReply("MPG".getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    @Requirement("MPA-7.1.1-02")
    void takesNoReplyForARequest() {
        assertClosedWithoutReply(Frames.reply(false, true));
    }

    @ParameterizedTest(name = "PD_Length {0}")
    @ValueSource(ints = {513, 0x8000, 0xFFFF})
    @Requirement({"MPA-7.1.1-10", "MPA-7.1.2-12", "MPA-8-04"})
    void closesWhenThereIsTooMuchPrivateData(int pdLength) {
        assertClosedWithoutReply(Frames.frame(Frames.REQUEST_KEY, Frames.C, 1, pdLength, new byte[0]));
    }

    @Test
    @Requirement("MPA-7.1.1-10")
    void closesWhenOctetsFollowTheRequest() {
        assertClosedWithoutReply(concat(Frames.request(Frames.C, 1, new byte[4]), new byte[1]));
    }

    @Test
    @Requirement("MPA-7.1.1-10")
    void closesWhenOctetsComeBeforeTheReplyIsOut() {
        Endpoint endpoint = Endpoint.responder(DEFAULTS);
        endpoint.input(Frames.request(false, true));

        endpoint.input(ReferenceStream.of(true, false, new byte[20]));

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.transport.calls).containsExactly("close");
    }

    @Test
    @Requirement("MPA-7.1.1-10")
    void anAnswerAfterTheFailureChangesNothing() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);
        endpoint.input(Frames.request(false, true));
        endpoint.input(new byte[1]);

        endpoint.mpa.accept(DEFAULTS);
        endpoint.mpa.reject(DEFAULTS);

        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.established).isEmpty();
    }

    @ParameterizedTest(name = "FIN after {0} octets")
    @CsvSource({
        "0, CONNECTION_LOST",
        "1, INVALID_STARTUP_FRAME",
        "19, INVALID_STARTUP_FRAME",
        "23, INVALID_STARTUP_FRAME"
    })
    @Requirement({"MPA-7.1.1-10", "MPA-8-01"})
    void closesWhenTheRequestIsCutOff(int octets, LlpError error) {
        Endpoint endpoint = Endpoint.responder(DEFAULTS);
        endpoint.input(Arrays.copyOf(Frames.request(Frames.C, 1, new byte[4]), octets));

        endpoint.mpa.receiveEnd();

        assertThat(endpoint.failures).containsExactly(error);
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.transport.buffersOut).isZero();
    }

    @ParameterizedTest(name = "Rev {0}")
    @ValueSource(ints = {3, 255})
    @Requirement({"MPA-7.1.1-09", "MPA-8-04"})
    void answersAnUnusableRevisionWithItsOwnAndCloses(int rev) {
        assertAnsweredWithOwnRevision(Frames.request(Frames.C | 0x10, rev, new byte[4]));
    }

    @ParameterizedTest(name = "M {0}")
    @ValueSource(booleans = {false, true})
    @Requirement({"MPA-C.2.1-01", "MPA-C.2-01"})
    void answersAnRdmacPeerWithRevisionOneAndClosesGracefully(boolean m) {
        assertAnsweredWithOwnRevision(Frames.request((m ? Frames.M : 0) | Frames.C, 0, new byte[0]));
    }

    @Test
    @Requirement({"MPA-7.1.1-06", "MPA-7.1.1-07"})
    void checksNeitherRNorReservedBits() {
        Endpoint endpoint = Endpoint.responder(DEFAULTS);

        endpoint.input(Frames.request(Frames.R | Frames.C | 0x1F, 1, new byte[0]));

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.C, 1, new byte[0]));
        assertThat(endpoint.established).hasSize(1);
    }

    @ParameterizedTest(name = "{0} octets arrived")
    @ValueSource(ints = {0, 19})
    @Requirement({"MPA-7.1.2-11", "MPA-7.1.2-13"})
    void failsWhenNoRequestComesInTime(int octets) {
        Endpoint endpoint = Endpoint.responder(DEFAULTS);
        endpoint.input(Arrays.copyOf(Frames.request(false, true), octets));

        endpoint.mpa.startupTimeout();

        assertThat(endpoint.failures).containsExactly(LlpError.CONNECTION_LOST);
        assertThat(endpoint.messages.getFirst()).contains("no MPA Request Frame in time");
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.transport.buffersOut).isZero();
    }

    @Test
    void failsWhenTheConsumerDoesNotAnswerInTime() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);
        endpoint.input(Frames.request(false, true));

        endpoint.mpa.startupTimeout();

        assertThat(endpoint.messages).containsExactly("MPA Request Frame not answered in time");
    }

    @Test
    void thereIsNothingToAnswerBeforeARequest() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);

        assertThatIllegalStateException().isThrownBy(() -> endpoint.mpa.accept(DEFAULTS));
        assertThatIllegalStateException().isThrownBy(() -> endpoint.mpa.reject(DEFAULTS));
    }

    @Test
    @Requirement("MPA-7.1.1-10")
    void refusesToSendMoreThan512OctetsOfPrivateData() {
        Endpoint endpoint = new Endpoint(MpaRole.RESPONDER, DEFAULTS);
        endpoint.input(Frames.request(false, true));

        assertThatIllegalArgumentException().isThrownBy(() -> DEFAULTS.withPrivateData(new byte[513]));
        endpoint.mpa.accept(DEFAULTS);
        assertThat(endpoint.output()).isEqualTo(Frames.reply(false, true));
    }

    private static void assertClosedWithoutReply(byte[] octets) {
        Endpoint endpoint = Endpoint.responder(DEFAULTS);

        endpoint.input(octets);
        endpoint.input(Frames.request(false, true));

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.failures.getFirst().code()).isEqualTo(4);
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.requests).isEmpty();
        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.transport.buffersOut).isZero();
    }

    private static void assertAnsweredWithOwnRevision(byte[] request) {
        Endpoint endpoint = Endpoint.responder(IETF_ONLY);

        endpoint.input(request);
        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.transport.calls).isEmpty();

        assertThat(endpoint.output()).isEqualTo(Frames.reply(Frames.R | Frames.C, 1, new byte[0]));
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.requests).isEmpty();
        assertThat(endpoint.transport.buffersOut).isZero();
    }
}
