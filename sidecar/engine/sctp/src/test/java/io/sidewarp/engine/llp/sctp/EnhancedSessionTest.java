// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import static io.sidewarp.engine.testing.SctpEnd.enhanced;
import static io.sidewarp.engine.testing.SctpEnd.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.llp.Negotiation.Terms;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SessionRecorder;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.RtrKind;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests sessions that begin with the enhanced messages (RFC 6581 section 7). */
class EnhancedSessionTest {

    private static final Terms CLIENT = new Terms(4, 6, true, false, List.of(RtrKind.SEND));
    private static final Terms SERVER = new Terms(8, 3, true, false, List.of(RtrKind.SEND));
    private static final Terms PEER = new Terms(4, 6, true, true, List.of(RtrKind.WRITE, RtrKind.READ));

    private static SctpEnd pair(Terms passive) {
        SctpEnd left = SctpEnd.pair(2);
        left.peer().onInitiate(recorder -> {
            recorder.accept(enhanced(passive, (byte) 0x79));
            return true;
        });
        return left;
    }

    @Test
    @Requirement({"EMPA-7-01", "SCTP-5.2.3-04"})
    void theMessagesHaveCodes5And6WithDepthsBeforeThePrivateDataAndCode4EndsTheSession() {
        SctpEnd left = pair(SERVER);

        SessionRecorder active = left.initiate(enhanced(CLIENT, (byte) 0x78));
        left.rest();
        active.send(new byte[] {0x41});
        left.rest();
        active.session().lowerLayer().closeOutput();
        left.rest();

        assertThat(left.sent()).containsExactly("0:17 00 00 00 05 00 04 00 06 78", "0:16 00 01 41", "0:17 00 02 00 04");
        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 06 00 08 00 03 79", "0:17 00 01 00 04");
        SessionRecorder passive = left.peer().asked().getFirst();
        assertThat(passive.asked().privateData()).containsExactly(0x78);
        assertThat(active.agreed().privateData()).containsExactly(0x79);
        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
    }

    @Test
    @Requirement("EMPA-7-01")
    void depthsAreToldToBothConsumersAndHeeded() {
        SctpEnd left = pair(SERVER);

        SessionRecorder active = left.initiate(enhanced(CLIENT));
        left.rest();

        SessionStartup mine = active.agreed();
        assertThat(List.of(mine.ird(), mine.ord())).containsExactly(4, 6);
        assertThat(List.of(mine.peer().ird(), mine.peer().ord())).containsExactly(8, 3);
        SessionStartup theirs = left.peer().asked().getFirst().agreed();
        assertThat(List.of(theirs.ird(), theirs.ord())).containsExactly(8, 3);
        assertThat(List.of(theirs.peer().ird(), theirs.peer().ord())).containsExactly(4, 6);
    }

    @Test
    @Requirement("EMPA-7-01")
    void aRejectHasCode7AndTellsTheDepthsThatWouldBeNeeded() {
        SctpEnd left = SctpEnd.pair(1);
        left.peer().onInitiate(recorder -> {
            recorder.reject(enhanced(SERVER, (byte) 0x7A));
            return true;
        });

        SessionRecorder active = left.initiate(enhanced(CLIENT));
        left.rest();

        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 07 00 08 00 03 7a");
        assertThat(active.events()).containsExactly("rejected");
        assertThat(active.rejection().privateData()).containsExactly(0x7A);
        assertThat(active.rejection().peer().ird()).isEqualTo(8);
        assertThat(left.association().occupiedStreams()).isZero();
    }

    @Test
    @Requirement("EMPA-7-01")
    void depthsAndPrivateDataHave512OctetsTogether() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> enhanced(CLIENT, new byte[509]))
                .withMessageContaining("at most 508");
        SctpEnd left = SctpEnd.pair(1);
        left.peer().onInitiate(recorder -> true);
        SessionRecorder active = left.initiate(enhanced(CLIENT, new byte[508]));
        left.rest();
        SessionRecorder passive = left.peer().asked().getFirst();
        assertThat(passive.asked().replyRoom()).isEqualTo(508);

        // An answer has to be in kind, whatever its options were made for.
        assertThatIllegalArgumentException()
                .isThrownBy(() -> passive.accept(options(new byte[509])))
                .withMessageContaining("at most 508");
        assertThatIllegalArgumentException().isThrownBy(() -> passive.reject(options(new byte[509])));
        passive.accept(options(new byte[508]));
        left.rest();

        assertThat(left.pipe().log().getFirst().octets()).hasSize(516);
        assertThat(left.peer().pipe().log().getFirst().octets()).hasSize(516);
        assertThat(active.agreed().privateData()).hasSize(508);
    }

    @Test
    @Requirement("EMPA-7-01")
    void aPeersMessageOfMoreThan512OctetsOfPrivateDataEndsTheSession() {
        SctpEnd end = SctpEnd.alone(1);

        end.inject(0, 17, "0000 0005 00040006" + "00".repeat(509));
        end.rest();

        assertThat(end.asked()).isEmpty();
        assertThat(end.sent()).containsExactly("0:17 00 00 00 04");
    }

    @Test
    void anEnhancedInitiateThatThePeerDoesNotKnowIsRefusedWithAHint() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.initiate(enhanced(CLIENT));
        end.rest();

        end.inject(0, 17, "0000 0004");
        end.acknowledge();

        assertThat(active.events()).containsExactly("refused");
        assertThat(active.cause()).contains("or no enhanced ones (RFC 6581)");
        assertThat(end.association().occupiedStreams()).isZero();
    }

    @Test
    void anUnenhancedAcceptIsNoAnswerToAnEnhancedInitiateButAnUnenhancedRejectIs() {
        SctpEnd end = SctpEnd.alone(2);
        SessionRecorder accepted = end.initiate(enhanced(CLIENT));
        SessionRecorder rejected = end.initiate(enhanced(CLIENT));
        end.rest();

        end.inject(0, 17, "0000 0002");
        end.inject(1, 17, "0000 0003 77");

        assertThat(accepted.events()).containsExactly("failed");
        assertThat(accepted.cause()).contains("ACCEPT as the answer to an Enhanced Initiate");
        assertThat(rejected.events()).containsExactly("rejected");
        assertThat(rejected.rejection().privateData()).containsExactly(0x77);
    }

    @Test
    @Requirement("EMPA-7-01")
    void thePeerToPeerModelHasItsFlagsAndAgreesOnAnIndication() {
        SctpEnd left = pair(new Terms(8, 3, true, false, List.of(RtrKind.READ)));

        SessionRecorder active = left.initiate(enhanced(PEER));
        left.rest();

        assertThat(left.sent()).containsExactly("0:17 00 00 00 05 80 04 c0 06");
        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 06 80 08 40 03 79");
        assertThat(active.agreed().rtr()).isEqualTo(RtrKind.READ);
        assertThat(active.agreed().peerToPeer()).isTrue();
        assertThat(active.agreed().error()).isNull();
    }

    @Test
    @Requirement({"EMPA-7-01", "EMPA-9.2-01"})
    void onlyIndicationsThatWereAskedForAreOffered() {
        SctpEnd left = pair(new Terms(0, 3, true, false, List.of(RtrKind.SEND, RtrKind.WRITE, RtrKind.READ)));

        SessionRecorder active = left.initiate(enhanced(PEER));
        left.rest();

        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 06 80 01 c0 03 79");
        assertThat(active.agreed().rtr()).isEqualTo(RtrKind.WRITE);
        assertThat(left.peer().asked().getFirst().agreed().ird()).isEqualTo(1);
    }

    @Test
    void withoutCommonIndicationTheUpperLayerLearnsTheErrorAndMaySendItsTerminate() {
        SctpEnd left = pair(new Terms(8, 3, true, false, List.of(RtrKind.SEND)));
        SessionRecorder active = left.initiate(enhanced(PEER));

        left.rest();

        assertThat(active.events()).containsExactly("established", "error");
        assertThat(active.error()).isEqualTo(LlpError.NO_MATCHING_RTR);
        active.send(new byte[] {0x47});
        left.rest();
        assertThat(left.sent().getLast()).isEqualTo("0:16 00 01 47");
    }

    @Test
    void aPeerThatWantsMoreReadsThanAreServedIsAnError() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.initiate(enhanced(CLIENT));
        end.rest();

        end.inject(0, 17, "0000 0006 00060005");

        assertThat(active.error()).isEqualTo(LlpError.INSUFFICIENT_IRD);
        end.inject(0, 16, "0001 41");
        assertThat(active.segments()).isEmpty();
    }
}
