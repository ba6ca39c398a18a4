// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import static io.sidewarp.engine.llp.mpa.Frames.concat;
import static io.sidewarp.engine.llp.mpa.Frames.numbered;
import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.verbs.LlpError;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InitiatorStartupTest {

    private static final MpaOptions DEFAULTS = MpaOptions.defaults();
    /** Not permissive: RDMAC peers are refused (RFC 5044 C.2). */
    private static final MpaOptions IETF_ONLY = DEFAULTS.with(policy -> policy.withRevisions(Set.of(1, 2), 1));

    @Test
    @Requirement({
        "MPA-3-06",
        "MPA-7.1.2-01",
        "MPA-7.1.1-01",
        "MPA-7.1.1-02",
        "MPA-7.1.1-06",
        "MPA-7.1.1-07",
        "MPA-7.1.1-08",
        "MPA-7.1-03",
        "MPA-4.4-01"
    })
    void sendsARequestFirstWithCrcAndWithoutMarkersByDefault() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);

        assertThat(endpoint.output()).isEqualTo(Frames.request(Frames.C, 1, new byte[0]));
    }

    @ParameterizedTest(name = "{0} octets of Private Data")
    @ValueSource(ints = {0, 1, 511, 512})
    @Requirement({"MPA-7.1.1-10", "MPA-7.1.1-11", "MPA-7.1-03", "MPA-7.1.2-01"})
    void carriesPrivateDataUnchangedBothWays(int length) {
        byte[] sent = numbered(length, 3);
        byte[] received = numbered(length, 7);
        Endpoint endpoint = Endpoint.initiator(DEFAULTS.withPrivateData(sent));

        assertThat(endpoint.output()).hasSize(20 + length).isEqualTo(Frames.request(Frames.C, 1, sent));
        endpoint.input(Frames.reply(Frames.C, 1, received));

        assertThat(endpoint.established).hasSize(1);
        assertThat(endpoint.established.getFirst().privateData()).isEqualTo(received);
    }

    @Test
    @Requirement("MPA-7.1.1-01")
    void sendsTheRequestInPiecesWhenThereIsLittleRoom() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS.withPrivateData(numbered(30, 1)));

        assertThat(endpoint.output(7)).isEqualTo(Frames.request(Frames.C, 1, numbered(30, 1)));
    }

    @ParameterizedTest(name = "own M {0} C {1}, peer''s M {2} C {3}")
    @CsvSource({
        "false, false, false, false",
        "false, false, false, true",
        "false, false, true, false",
        "false, false, true, true",
        "false, true, false, false",
        "false, true, false, true",
        "false, true, true, false",
        "true, false, false, false",
        "true, false, false, true",
        "true, true, false, false",
        "true, true, true, true",
    })
    @Requirement({"MPA-7.1.1-04", "MPA-7.1.1-05", "MPA-7.1.1-09", "MPA-C.3-01", "MPA-7.1.2-08", "MPA-3-07"})
    void agreesWithTheReply(boolean m, boolean c, boolean peerM, boolean peerC) {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS.with(bits(m, c)), peerM, peerC);

        MpaStartup agreed = endpoint.established.getFirst();
        assertThat(agreed.sendMarkers()).isEqualTo(peerM);
        assertThat(agreed.receiveMarkers()).isEqualTo(m);
        assertThat(agreed.crc()).isEqualTo(c || peerC);
        assertThat(agreed.peerMarkers()).isEqualTo(peerM);
        assertThat(agreed.peerCrc()).isEqualTo(peerC);
        assertThat(agreed.revision()).isEqualTo(1);
        assertThat(endpoint.mpa.protocolVersion()).isEqualTo(1);
        assertThat(endpoint.transport.calls).isEmpty();
    }

    @Test
    @Requirement("MPA-7.1.2-06")
    void sendsNoFpduBeforeTheReply() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.mpa.attach(endpoint.upper);
        endpoint.onEstablished = () -> {};
        endpoint.upper.send(new byte[20]);

        assertThat(endpoint.output()).hasSize(20);
        assertThat(endpoint.mpa.outputPermitted()).isFalse();
        endpoint.input(Frames.reply(false, true));

        assertThat(endpoint.mpa.outputPermitted()).isTrue();
        assertThat(endpoint.output()).isEqualTo(ReferenceStream.of(true, false, new byte[20]));
    }

    @Test
    @Requirement("MPA-7.1.2-05")
    void takesFpdusThatFollowTheReplyInTheSameInput() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.output();
        byte[] ulpdu = numbered(33, 1);

        endpoint.input(concat(Frames.reply(false, true), ReferenceStream.of(true, false, ulpdu)));

        assertThat(endpoint.upper.ulpdus).containsExactly(ulpdu);
    }

    @Test
    @Requirement({"MPA-7.1.1-06", "MPA-7.1.2-07"})
    void reportsARejectionWithItsPrivateDataAndCloses() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.output();

        endpoint.input(Frames.reply(Frames.R | Frames.C, 1, numbered(9, 1)));
        endpoint.mpa.closed();

        assertThat(endpoint.rejections).extracting(MpaStartup::privateData).containsExactly(numbered(9, 1));
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.established).isEmpty();
        assertThat(endpoint.failures).isEmpty();
        assertThat(endpoint.transport.buffersOut).isZero();
    }

    @Test
    @Requirement("MPA-7.1.2-07")
    void leavesTcpAndWhatFollowsToTheConsumerIfAsked() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS.withCloseOnReject(false));
        endpoint.output();

        int taken = endpoint.input(concat(Frames.reply(Frames.R, 1, new byte[4]), new byte[10]));

        assertThat(taken).isEqualTo(24);
        assertThat(endpoint.input(new byte[5])).isZero();
        assertThat(endpoint.rejections).hasSize(1);
        assertThat(endpoint.transport.calls).isEmpty();
    }

    @Test
    @Requirement("MPA-7.1.2-07")
    void letsTheConsumerCloseBecauseOfThePrivateData() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.onEstablished = endpoint.mpa::close;
        endpoint.output();

        endpoint.input(concat(Frames.reply(false, true), ReferenceStream.of(true, false, new byte[20])));

        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.failures).isEmpty();
    }

    @Test
    @Requirement("MPA-7.1-02")
    void needsADdpEndpointOnEntryToFullOperation() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.onEstablished = () -> {};
        endpoint.output();

        assertThatIllegalStateException().isThrownBy(() -> endpoint.input(Frames.reply(false, true)));
    }

    @ParameterizedTest(name = "octet {0} of the Key")
    @ValueSource(ints = {0, 7, 9, 15})
    @Requirement({"MPA-7.1.1-03", "MPA-7.1.2-06", "MPA-8-04", "MPA-8-05"})
    void closesWhenTheKeyIsWrong(int octet) {
        byte[] reply = Frames.reply(false, true);
        reply[octet] ^= 0x20;

        assertClosedAsInvalid(reply);
    }

    @Test
    @Requirement({"MPA-7.1.2-11", "MPA-7.1.1-03"})
    void detectsThatThePeerIsAnInitiatorToo() {
        Endpoint one = Endpoint.initiator(DEFAULTS);
        Endpoint other = Endpoint.initiator(DEFAULTS);
        byte[] request = one.output();

        other.output();
        other.input(request);

        assertThat(other.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(other.messages.getFirst()).contains("both sides started MPA as INITIATOR");
        assertThat(other.transport.calls).containsExactly("close");
    }

    @ParameterizedTest(name = "Rev {0}")
    @ValueSource(ints = {3, 255})
    @Requirement({"MPA-7.1.1-09", "MPA-8-04"})
    void closesWhenTheRevisionIsUnusable(int rev) {
        assertClosedAsInvalid(Frames.reply(Frames.C, rev, new byte[0]));
    }

    @ParameterizedTest(name = "M {0}")
    @ValueSource(booleans = {false, true})
    @Requirement({"MPA-C.2.2-01", "MPA-C.2-01"})
    void closesGracefullyWhenTheReplyIsOfAnRdmacPeer(boolean m) {
        assertClosedAsInvalid(Frames.reply((m ? Frames.M : 0) | Frames.C, 0, new byte[0]));
    }

    @ParameterizedTest(name = "PD_Length {0}")
    @ValueSource(ints = {513, 0xFFFF})
    @Requirement({"MPA-7.1.1-10", "MPA-7.1.2-12", "MPA-8-04"})
    void closesWhenThereIsTooMuchPrivateData(int pdLength) {
        assertClosedAsInvalid(Frames.frame(Frames.REPLY_KEY, Frames.C, 1, pdLength, new byte[0]));
    }

    @Test
    @Requirement("MPA-7.1.2-12")
    void takesNoMorePrivateDataThanTheConsumerCan() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS.withMaxPrivateData(4));
        endpoint.output();

        endpoint.input(Frames.reply(Frames.C, 1, new byte[5]));

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.messages.getFirst()).contains("5 bytes of Private Data, at most 4");
    }

    @Test
    @Requirement("MPA-7.1.1-10")
    void closesWhenTheReplyIsCutOff() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.output();
        endpoint.input(Arrays.copyOf(Frames.reply(Frames.C, 1, new byte[10]), 29));

        endpoint.mpa.receiveEnd();

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.transport.buffersOut).isZero();
    }

    @Test
    @Requirement("MPA-7.1.2-06")
    void takesNoReplyToARequestThatIsNotOut() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);

        endpoint.input(Frames.reply(false, true));

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        endpoint.transport.outputRequested = true;
        assertThat(endpoint.output()).isEmpty();
    }

    @Test
    @Requirement("MPA-7.1.1-07")
    void doesNotCheckReservedBits() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.output();

        endpoint.input(Frames.reply(Frames.C | 0x1F, 1, new byte[0]));

        assertThat(endpoint.established).hasSize(1);
    }

    @Test
    @Requirement("MPA-7.1.2-13")
    void failsWhenTheTimeIsOver() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.output();
        endpoint.input(Arrays.copyOf(Frames.reply(false, true), 19));

        endpoint.mpa.startupTimeout();
        endpoint.mpa.closed();

        assertThat(endpoint.failures).containsExactly(LlpError.CONNECTION_LOST);
        assertThat(endpoint.messages.getFirst()).isEqualTo("no MPA Reply Frame in time (19 bytes arrived)");
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.transport.buffersOut).isZero();
    }

    @Test
    @Requirement({"MPA-8-01", "MPA-8-05"})
    void reportsThatTcpWasLost() {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);
        endpoint.mpa.attach(endpoint.upper);
        endpoint.output();

        endpoint.mpa.receiveLost("Connection reset by peer");

        assertThat(endpoint.failures).containsExactly(LlpError.CONNECTION_LOST);
        assertThat(endpoint.messages).containsExactly("Connection reset by peer");
        assertThat(endpoint.upperEvents()).containsExactly("closed false");
    }

    @ParameterizedTest(name = "abort {0}")
    @ValueSource(booleans = {false, true})
    void tellsTheConsumerWhenThisSideGivesUp(boolean abort) {
        Endpoint endpoint = Endpoint.initiator(DEFAULTS);

        if (abort) {
            endpoint.mpa.abort();
        } else {
            endpoint.mpa.close();
        }
        endpoint.mpa.closed();

        assertThat(endpoint.failures).containsExactly(LlpError.CONNECTION_LOST);
        assertThat(endpoint.transport.calls).containsExactly(abort ? "abort" : "close");
        assertThat(endpoint.output()).isEmpty();
    }

    @Test
    void aTimeoutAfterStartupChangesNothing() {
        Endpoint endpoint = Endpoint.establishedInitiator(DEFAULTS, false, true);

        endpoint.mpa.startupTimeout();

        assertThat(endpoint.failures).isEmpty();
        assertThat(endpoint.transport.calls).isEmpty();
    }

    private static void assertClosedAsInvalid(byte[] reply) {
        Endpoint endpoint = Endpoint.initiator(IETF_ONLY);
        endpoint.output();

        endpoint.input(concat(reply, new byte[50]));
        endpoint.input(Frames.reply(false, true));
        endpoint.mpa.closed();

        assertThat(endpoint.failures).containsExactly(LlpError.INVALID_STARTUP_FRAME);
        assertThat(endpoint.failures.getFirst().code()).isEqualTo(4);
        assertThat(endpoint.transport.calls).containsExactly("close");
        assertThat(endpoint.output()).isEmpty();
        assertThat(endpoint.established).isEmpty();
        assertThat(endpoint.rejections).isEmpty();
        assertThat(endpoint.transport.buffersOut).isZero();
    }
}
