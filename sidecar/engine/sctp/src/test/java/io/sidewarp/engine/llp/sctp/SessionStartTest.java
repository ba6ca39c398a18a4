// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import static io.sidewarp.engine.testing.Octets.pattern;
import static io.sidewarp.engine.testing.Octets.show;
import static io.sidewarp.engine.testing.SctpEnd.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SessionRecorder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the beginnings of sessions, and their failures (RFC 5043 sections 6.2 to 6.4). */
class SessionStartTest {

    @Test
    @Requirement({"SCTP-5.2-01", "SCTP-5.2.1-01", "SCTP-5.2.2-01", "SCTP-5.2.3-01", "SCTP-6-01", "SCTP-6.2-01"})
    void theActiveSideSendsAnInitiateThePassiveSideAnAcceptAndThenSegmentsFlow() {
        SctpEnd left = SctpEnd.pair(4);

        SessionRecorder active = left.initiate((byte) 0x77);
        left.rest();
        active.send(new byte[] {0x40, 0x43}, new byte[] {0x41});
        SessionRecorder passive = left.peer().asked().getFirst();
        passive.send(new byte[] {(byte) 0xC1});
        left.rest();

        assertThat(left.sent()).containsExactly("0:17 00 00 00 01 77", "0:16 00 01 40 43", "0:16 00 02 41");
        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 02", "0:16 00 01 c1");
        assertThat(passive.segments()).containsExactly("40 43", "41");
        assertThat(active.segments()).containsExactly("c1");
    }

    @Test
    @Requirement({"SCTP-5.2.3-01", "SCTP-6-01", "SCTP-6.3-01", "SCTP-5.2.3-04", "SCTP-6.1-01"})
    void aRejectEndsTheSessionAndTheStreamCanBeUsedAgain() {
        SctpEnd left = SctpEnd.pair(1);
        left.peer().onInitiate(recorder -> {
            recorder.reject(options((byte) 0x55));
            return true;
        });

        SessionRecorder rejected = left.initiate();
        left.rest();

        assertThat(rejected.events()).containsExactly("rejected");
        assertThat(show(rejected.rejection().privateData())).isEqualTo("55");
        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 03 55");
        left.peer().onInitiate(recorder -> {
            recorder.accept();
            return true;
        });
        SessionRecorder accepted = left.initiate();
        left.rest();
        assertThat(accepted.events()).containsExactly("established");
        assertThat(left.sent()).containsExactly("0:17 00 00 00 01", "0:17 00 00 00 01");
        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 03 55", "0:17 00 00 00 02");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 512})
    @Requirement({"SCTP-5.2.3-02", "SCTP-5.2.3-04"})
    void privateDataReachesTheConsumersUnchanged(int length) {
        SctpEnd left = SctpEnd.pair(2);
        byte[] request = pattern(length, 1);
        byte[] reply = pattern(length, 2);
        left.peer().onInitiate(recorder -> {
            if (recorder.session().stream() == 0) {
                recorder.accept(options(reply));
            } else {
                recorder.reject(options(reply));
            }
            return true;
        });

        SessionRecorder accepted = left.initiate(request);
        SessionRecorder rejected = left.initiate(request);
        left.rest();

        assertThat(left.peer().asked())
                .allSatisfy(passive -> assertThat(passive.asked().privateData()).isEqualTo(request));
        assertThat(accepted.agreed().privateData()).isEqualTo(reply);
        assertThat(left.peer().asked().getFirst().agreed().privateData()).isEqualTo(request);
        assertThat(rejected.rejection().privateData()).isEqualTo(reply);
        assertThat(left.pipe().log().getFirst().octets()).hasSize(4 + length);
    }

    @Test
    @Requirement("SCTP-5.2.3-02")
    void privateDataOf513OctetsIsRefusedHere() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options(new byte[513]))
                .withMessageContaining("at most 512");
    }

    @Test
    @Requirement("SCTP-5.2.3-02")
    void aPeersPrivateDataOf513OctetsEndsTheSession() {
        SctpEnd end = SctpEnd.alone(2);
        byte[] initiate = Arrays.copyOf(new byte[] {0, 0, 0, 1}, 4 + 513);

        end.pipe().inject(1, 17, initiate);
        end.rest();

        assertThat(end.asked()).isEmpty();
        assertThat(end.sent()).containsExactly("1:17 00 00 00 04");
    }

    @ParameterizedTest(name = "function code {0}")
    @ValueSource(ints = {2, 3})
    @Requirement("SCTP-5.2.3-02")
    void anAnswerWith513OctetsOfPrivateDataFailsTheSession(int function) {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.initiate();
        end.rest();
        byte[] answer = Arrays.copyOf(new byte[] {0, 0, 0, (byte) function}, 4 + 513);

        end.pipe().inject(0, 17, answer);
        end.acknowledge();

        assertThat(active.events()).containsExactly("failed");
        assertThat(end.sent()).containsExactly("0:17 00 00 00 01", "0:17 00 01 00 04");
    }

    @Test
    @Requirement({"SCTP-6.4-01", "SCTP-6-03"})
    void theConsumerDecidesWhenItLikesAndBindsItsEndpointThen() {
        SctpEnd left = SctpEnd.pair(1);
        left.peer().onInitiate(recorder -> true);
        SessionRecorder active = left.initiate((byte) 1, (byte) 2);
        left.rest();
        SessionRecorder passive = left.peer().asked().getFirst();
        assertThat(passive.asked().privateData()).containsExactly(1, 2);
        assertThat(left.peer().sent()).isEmpty();

        passive.accept();
        left.rest();

        assertThat(active.events()).containsExactly("established");
        assertThat(passive.events()).containsExactly("established");
    }

    @Test
    @Requirement("SCTP-6-04")
    void aSessionHasOneEndpointForItsLife() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder active = left.initiate();
        left.rest();

        assertThatIllegalStateException().isThrownBy(() -> active.session().attach(new SessionRecorder()));
    }

    @Test
    @Requirement({"SCTP-5.2.3-05", "SCTP-6.4-01", "SCTP-6.3-02"})
    void whatTheConsumerCannotBeAskedIsAnsweredWithATerminateNeverWithAReject() {
        SctpEnd left = SctpEnd.pair(4);
        left.peer().onInitiate(recorder -> left.peer().asked().size() <= 2);

        SessionRecorder first = left.initiate();
        SessionRecorder second = left.initiate();
        SessionRecorder third = left.initiate();
        left.rest();

        assertThat(left.peer().sent()).containsExactly("2:17 00 00 00 04");
        assertThat(left.peer().association().counters().refusedInitiates()).isEqualTo(1);
        assertThat(third.events()).containsExactly("refused");
        assertThat(left.association().occupiedStreams()).isEqualTo(2);
        left.peer().asked().forEach(SessionRecorder::accept);
        left.rest();
        assertThat(first.events()).containsExactly("established");
        assertThat(second.events()).containsExactly("established");
        assertThat(third.events()).containsExactly("refused");
    }

    @Test
    void twoAnswersAreOneTooMany() {
        SctpEnd end = SctpEnd.alone(1);
        end.onInitiate(recorder -> true);
        end.inject(0, 17, "0000 0001");
        end.pipe().window(0);
        end.asked().getFirst().accept();
        end.rest();

        assertThatIllegalStateException().isThrownBy(end.asked().getFirst()::accept);
        end.pipe().window(8);
        end.pipe().requestOutput();
        end.rest();
        assertThatIllegalStateException().isThrownBy(end.asked().getFirst()::accept);
    }

    @Test
    @Requirement("SCTP-6.6-02")
    void theActiveSideSendsNoSegmentBeforeTheAccept() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.initiate();
        active.send(new byte[] {1});
        end.rest();
        end.acknowledge();
        assertThat(end.sent()).containsExactly("0:17 00 00 00 01");

        end.inject(0, 17, "0000 0002");
        end.rest();

        assertThat(end.sent()).containsExactly("0:17 00 00 00 01", "0:16 00 01 01");
    }

    @Test
    @Requirement("SCTP-6.2-01")
    void thePassiveSideMaySendFirstAndRightBehindItsAccept() {
        SctpEnd end = SctpEnd.alone(1);
        end.onInitiate(recorder -> {
            recorder.accept();
            recorder.send(new byte[] {9});
            return true;
        });

        end.inject(0, 17, "0000 0001");
        end.rest();

        assertThat(end.sent()).containsExactly("0:17 00 00 00 02", "0:16 00 01 09");
    }

    @Test
    void theSidesTakeStreamsFromOppositeEnds() {
        SctpEnd left = SctpEnd.pair(4);

        left.initiate();
        left.peer().initiate();
        left.initiate();
        left.rest();

        assertThat(left.sent()).contains("0:17 00 00 00 01", "1:17 00 00 00 01");
        assertThat(left.peer().sent()).contains("3:17 00 00 00 01");
        assertThat(left.asked())
                .singleElement()
                .satisfies(passive -> assertThat(passive.events()).containsExactly("established"));
    }

    @Test
    void onOneStreamTwoInitiatesThatCrossEndBothSessionsAndFreeTheStream() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder one = left.initiate();
        SessionRecorder other = left.peer().initiate();
        left.pipe().requestOutput();
        left.pipe().turn();

        left.rest();

        assertThat(left.sent().getFirst()).isEqualTo("0:17 00 00 00 01");
        // The right side had not sent its Initiate when the left one's came, and gave way.
        assertThat(other.events()).containsExactly("failed");
        assertThat(one.events()).containsExactly("established");
    }

    @Test
    @Requirement({"SCTP-6.1-02", "SCTP-6.6-01"})
    void initiatesThatCrossOnTheWireEndBothSessionsAndFreeTheStream() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder one = left.initiate();
        SessionRecorder other = left.peer().initiate();
        left.association().produce();
        left.peer().association().produce();
        left.pipe().holdAcknowledgements(true);

        left.rest();

        // The peer's Initiate does not say that it has this side's.
        assertThat(left.sent()).containsExactly("0:17 00 00 00 01");
        left.pipe().holdAcknowledgements(false);
        left.rest();
        assertThat(one.events()).containsExactly("failed");
        assertThat(other.events()).containsExactly("failed");
        assertThat(left.sent()).containsExactly("0:17 00 00 00 01", "0:17 00 01 00 04");
        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 01", "0:17 00 01 00 04");
        assertThat(left.association().occupiedStreams()).isZero();
        assertThat(left.peer().association().occupiedStreams()).isZero();
    }

    @Test
    void aSessionThatWasWithdrawnBeforeItsInitiateWasSentLeavesNoTrace() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder active = left.initiate();

        active.session().withdraw();
        left.rest();

        assertThat(left.sent()).isEmpty();
        assertThat(active.events()).isEmpty();
        assertThat(left.association().occupiedStreams()).isZero();
        assertThat(left.events()).containsExactly("established", "idle");
    }

    @Test
    @Requirement({"SCTP-6.5-01", "SCTP-6.6-01"})
    void aSessionThatTheActiveSideWithdrawsIsTerminatedBehindTheAccept() {
        SctpEnd left = SctpEnd.pair(1);
        left.peer().onInitiate(recorder -> true);
        SessionRecorder active = left.initiate();
        left.rest();

        active.session().withdraw();
        left.rest();
        assertThat(left.sent()).containsExactly("0:17 00 00 00 01");
        left.peer().asked().getFirst().accept();
        left.rest();

        assertThat(left.sent()).containsExactly("0:17 00 00 00 01", "0:17 00 01 00 04");
        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 02", "0:17 00 01 00 04");
        assertThat(active.events()).isEmpty();
        assertThat(left.peer().asked().getFirst().events()).containsExactly("established", "peer closed", "closed");
        assertThat(left.association().occupiedStreams()).isZero();
        assertThat(left.peer().association().occupiedStreams()).isZero();
    }

    @Test
    @Requirement({"SCTP-6.5-01", "SCTP-6.6-03"})
    void aSessionThatTheActiveSideWithdrawsAndThePassiveSideRejectsNeedsNoTerminate() {
        SctpEnd left = SctpEnd.pair(1);
        left.peer().onInitiate(recorder -> true);
        SessionRecorder active = left.initiate();
        left.rest();
        active.session().withdraw();

        left.peer().asked().getFirst().reject(options());
        left.rest();

        assertThat(left.sent()).containsExactly("0:17 00 00 00 01");
        assertThat(left.association().occupiedStreams()).isZero();
        assertThat(left.peer().association().occupiedStreams()).isZero();
    }

    @Test
    @Requirement("SCTP-6.3-02")
    void aSessionThatThePassiveSideWithdrawsIsRefused() {
        SctpEnd left = SctpEnd.pair(1);
        left.peer().onInitiate(recorder -> true);
        SessionRecorder active = left.initiate();
        left.rest();

        left.peer().asked().getFirst().session().withdraw();
        left.rest();

        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 04");
        assertThat(active.events()).containsExactly("refused");
        assertThat(left.peer().asked().getFirst().events()).isEmpty();
        assertThat(left.association().occupiedStreams()).isZero();
        assertThat(left.peer().association().occupiedStreams()).isZero();
    }

    @Test
    void bothSidesMayWithdrawAtOnce() {
        SctpEnd left = SctpEnd.pair(1);
        left.peer().onInitiate(recorder -> true);
        SessionRecorder active = left.initiate();
        left.rest();

        active.session().withdraw();
        left.peer().asked().getFirst().session().withdraw();
        left.rest();

        assertThat(active.events()).isEmpty();
        assertThat(left.association().occupiedStreams()).isZero();
        assertThat(left.peer().association().occupiedStreams()).isZero();
        assertThat(left.events()).containsExactly("established", "idle");
        assertThat(left.peer().events()).containsExactly("established", "idle");
    }

    @Test
    void anAcceptThatIsOnItsWayWhenThePassiveSideWithdrawsIsFollowedByATerminate() {
        SctpEnd left = SctpEnd.pair(1);
        left.peer().onInitiate(recorder -> true);
        SessionRecorder active = left.initiate();
        left.rest();
        SctpEnd right = left.peer();
        SessionRecorder passive = right.asked().getFirst();
        right.pipe().window(0);
        passive.accept();
        right.association().produce();

        passive.session().withdraw();
        right.pipe().window(8);
        right.pipe().requestOutput();
        left.rest();

        assertThat(right.sent()).containsExactly("0:17 00 00 00 02", "0:17 00 01 00 04");
        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
        assertThat(passive.events()).isEmpty();
        assertThat(right.association().occupiedStreams()).isZero();
    }

    @Test
    @Requirement("SCTP-6.1-02")
    void aTerminateRightBehindTheInitiateEndsTheRequestThatWaitsForTheConsumer() {
        SctpEnd end = SctpEnd.alone(1);
        end.onInitiate(recorder -> true);
        end.inject(0, 17, "0000 0001");
        end.inject(0, 17, "0001 0004");
        end.rest();
        SessionRecorder passive = end.asked().getFirst();
        assertThat(passive.events()).containsExactly("failed");

        passive.accept();
        end.rest();
        end.acknowledge();

        assertThat(end.sent()).containsExactly("0:17 00 00 00 04");
        assertThat(passive.events()).containsExactly("failed");
        assertThat(end.association().occupiedStreams()).isZero();
    }

    @Test
    void aTerminateDoesNotTakeBackWhatTheConsumerHasAccepted() {
        SctpEnd end = SctpEnd.alone(1);
        end.onInitiate(recorder -> true);
        end.inject(0, 17, "0000 0001");
        end.pipe().window(0);
        SessionRecorder passive = end.asked().getFirst();
        passive.accept();
        end.rest();

        end.inject(0, 17, "0001 0004");
        end.rest();
        assertThat(passive.events()).isEmpty();
        end.pipe().window(8);
        end.pipe().requestOutput();
        end.rest();

        assertThat(end.sent()).first().isEqualTo("0:17 00 00 00 02");
        assertThat(passive.events()).startsWith("established", "peer closed");
    }

    @Test
    void theInputThatWasKeptUntilTheAcceptHasAnEnd() {
        SctpEnd end = SctpEnd.alone(1);
        end.onInitiate(recorder -> true);
        end.inject(0, 17, "0000 0001");
        end.inject(0, 16, "0001 41");
        SessionRecorder passive = end.asked().getFirst();

        passive.accept();
        end.rest();

        assertThat(passive.segments()).containsExactly("41");
        assertThat(passive.inputsDone()).isOne();
    }
}
