// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SessionRecorder;
import org.junit.jupiter.api.Test;

/** Tests the ends of sessions, and when their streams become free (RFC 5043 sections 6.2 and 6.6). */
class SessionEndTest {

    private static final long LINGER =
            AdaptationSettings.defaults().lingerTimeout().toNanos();
    private static final byte[] SEGMENT = {0x41};

    @Test
    @Requirement({"SCTP-5.2.3-03", "SCTP-6.2-02", "SCTP-6-02", "SCTP-6.5-01", "SCTP-5.2.3-04", "DDP-3-09"})
    void aTerminateIsFourOctetsBehindTheLastSegmentAndAnsweredInKind() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder active = left.initiate();
        left.rest();
        SessionRecorder passive = left.peer().asked().getFirst();

        active.send(SEGMENT);
        active.session().lowerLayer().closeOutput();
        left.rest();

        // Segments that were not sent when the output was closed are not sent.
        assertThat(left.sent()).containsExactly("0:17 00 00 00 01", "0:17 00 01 00 04");
        assertThat(left.peer().sent()).containsExactly("0:17 00 00 00 02", "0:17 00 01 00 04");
        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
        assertThat(passive.events()).containsExactly("established", "peer closed", "closed");
        // The session has ended, the association has not.
        assertThat(left.events()).containsExactly("established", "idle");
        assertThat(left.association().occupiedStreams()).isZero();
        assertThat(left.peer().association().occupiedStreams()).isZero();
    }

    @Test
    @Requirement("SCTP-6.2-02")
    void whatWasCommittedGoesOutBeforeTheTerminate() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder active = left.initiate();
        left.rest();
        active.send(SEGMENT, SEGMENT);
        left.pipe().window(1);
        left.pipe().turn();

        active.session().lowerLayer().closeOutput();
        left.rest();

        assertThat(left.sent())
                .containsExactly("0:17 00 00 00 01", "0:16 00 01 41", "0:16 00 02 41", "0:17 00 03 00 04");
        assertThat(left.peer().asked().getFirst().segments()).hasSize(2);
    }

    @Test
    void aTerminateEndsOneDirectionOnly() {
        SctpEnd left = SctpEnd.pair(1);
        SessionRecorder active = left.initiate();
        left.rest();
        SessionRecorder passive = left.peer().asked().getFirst().staysOpen();

        active.session().lowerLayer().closeOutput();
        left.rest();
        passive.send(SEGMENT);
        left.rest();

        assertThat(active.segments()).containsExactly("41");
        assertThat(active.session().lowerLayer().outputPermitted()).isFalse();
        assertThat(passive.session().lowerLayer().outputPermitted()).isTrue();
        assertThat(active.events()).containsExactly("established");
        passive.session().lowerLayer().closeOutput();
        left.rest();
        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
        assertThat(passive.events()).containsExactly("established", "peer closed", "closed");
    }

    @Test
    @Requirement("SCTP-6.6-01")
    void theTerminateWaitsUntilTheAcceptIsAcknowledged() {
        SctpEnd end = SctpEnd.alone(1);
        end.inject(0, 17, "0000 0001");
        SessionRecorder passive = end.asked().getFirst();
        end.rest();
        passive.session().lowerLayer().closeOutput();
        end.inject(0, 16, "0001 41");
        end.rest();
        assertThat(end.sent()).containsExactly("0:17 00 00 00 02");

        end.acknowledge();

        assertThat(end.sent()).containsExactly("0:17 00 00 00 02", "0:17 00 01 00 04");
    }

    @Test
    @Requirement("SCTP-6.6-01")
    void theTerminateOfThePeerDoesNotStandForTheAcknowledgement() {
        SctpEnd end = SctpEnd.alone(1);
        end.inject(0, 17, "0000 0001");
        end.rest();

        end.inject(0, 17, "0001 0004");
        end.rest();

        assertThat(end.asked().getFirst().events()).containsExactly("established", "peer closed");
        assertThat(end.sent()).containsExactly("0:17 00 00 00 02");
        end.acknowledge();
        assertThat(end.sent()).containsExactly("0:17 00 00 00 02", "0:17 00 01 00 04");
    }

    @Test
    @Requirement("SCTP-6.6-01")
    void theActiveSidesTerminateNeedsNoAcknowledgementOnceTheAcceptIsHere() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();

        active.session().lowerLayer().closeOutput();
        end.rest();

        assertThat(end.sent()).containsExactly("0:17 00 00 00 01", "0:17 00 01 00 04");
    }

    @Test
    @Requirement({"SCTP-6.6-03", "SCTP-6.1-01"})
    void theStreamIsFreeWhenBothTerminatesAreThrough() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();
        active.session().lowerLayer().closeOutput();
        end.rest();
        assertThat(end.association().hasFreeStream()).isFalse();
        end.inject(0, 17, "0001 0004");
        end.rest();
        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
        assertThat(end.association().hasFreeStream()).isFalse();
        assertThatIllegalStateException().isThrownBy(end::initiate).withMessage("all 1 streams are in use");

        end.acknowledge();

        assertThat(end.association().hasFreeStream()).isTrue();
        end.initiate();
        end.rest();
        assertThat(end.sent()).containsExactly("0:17 00 00 00 01", "0:17 00 01 00 04", "0:17 00 00 00 01");
    }

    @Test
    @Requirement("SCTP-6.6-03")
    void aStreamWhosePeerNeverSaysItsLastWordIsNotUsedForAnother() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();
        active.session().close();
        end.rest();
        end.acknowledge();
        assertThat(active.events()).containsExactly("established", "closed");
        assertThat(end.events()).containsExactly("established");

        end.advance(LINGER);

        assertThat(end.events()).containsExactly("established", "idle");
        assertThat(end.association().hasFreeStream()).isFalse();
        end.inject(0, 17, "0001 0004");
        end.rest();
        assertThat(end.association().hasFreeStream()).isTrue();
    }

    @Test
    @Requirement("SCTP-6.2-02")
    void aHalfClosedSessionWhosePeerIsSilentEndsAfterTheLingerTimeout() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();
        active.session().lowerLayer().closeOutput();
        end.rest();
        end.acknowledge();

        end.advance(LINGER - 1);
        end.inject(0, 16, "0001 41");
        end.advance(LINGER - 1);
        assertThat(active.events()).containsExactly("established");
        end.advance(1);

        // One Terminate is enough.
        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
        assertThat(end.events()).containsExactly("established", "idle");
        assertThat(end.association().hasFreeStream()).isFalse();
    }

    @Test
    void aHalfClosedSessionWhosePeerLeftSomethingOutIsBrokenAfterTheLingerTimeout() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();
        end.inject(0, 16, "0002 41");
        active.session().lowerLayer().closeOutput();
        end.rest();
        end.acknowledge();

        end.advance(LINGER);

        assertThat(active.events()).containsExactly("established", "broken");
        assertThat(active.cause()).isEqualTo("the peer did not end the session in time");
        assertThat(end.events()).containsExactly("established", "idle");
    }

    @Test
    void theLingerTimeoutBeginsWhenThePeerHasAcknowledgedTheTerminate() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();
        active.session().lowerLayer().closeOutput();
        end.rest();

        end.advance(LINGER);
        end.advance(LINGER);
        assertThat(active.events()).containsExactly("established");
        end.acknowledge();
        end.advance(LINGER - 1);
        assertThat(active.events()).containsExactly("established");
        end.advance(1);

        assertThat(active.events()).containsExactly("established", "peer closed", "closed");
        assertThat(end.events()).containsExactly("established", "idle");
    }

    @Test
    void aSessionThatThePeerEndedFirstKeepsTheAssociationUntilAllIsAcknowledged() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.initiate().staysOpen();
        end.rest();
        end.inject(0, 17, "0000 0002");
        active.send(SEGMENT);
        end.rest();
        end.inject(0, 17, "0001 0004");
        active.session().lowerLayer().closeOutput();
        end.rest();
        assertThat(active.events()).containsExactly("established", "peer closed", "closed");

        end.advance(LINGER);
        end.advance(LINGER);
        assertThat(end.events()).containsExactly("established");
        end.acknowledge();

        assertThat(end.events()).containsExactly("established", "idle");
    }

    @Test
    void anAbortedSessionKeepsTheAssociationUntilItsTerminateIsAcknowledged() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();
        active.session().abort();
        end.rest();
        assertThat(active.events()).containsExactly("established", "broken");

        end.advance(LINGER);
        end.advance(LINGER);
        assertThat(end.events()).containsExactly("established");
        end.acknowledge();
        end.advance(LINGER);

        assertThat(end.events()).containsExactly("established", "idle");
    }

    @Test
    void whatComesBehindACloseIsDiscarded() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();

        active.session().close();
        end.inject(0, 16, "0001 41");
        end.inject(0, 16, "0003 43");
        end.rest();
        end.acknowledge();
        end.inject(0, 16, "0002 42");
        end.inject(0, 17, "0004 0004");
        end.rest();

        assertThat(active.segments()).isEmpty();
        assertThat(active.events()).containsExactly("established", "closed");
        assertThat(end.association().occupiedStreams()).isZero();
    }

    @Test
    void anAbortEndsTheSessionAtOnceAndNoOther() {
        SctpEnd left = SctpEnd.pair(2);
        SessionRecorder active = left.initiate();
        SessionRecorder other = left.initiate();
        left.rest();

        active.session().abort();
        left.rest();

        assertThat(active.events()).containsExactly("established", "broken");
        assertThat(active.cause()).isEqualTo("aborted by this side");
        assertThat(left.peer().asked().getFirst().events()).containsExactly("established", "peer closed", "closed");
        assertThat(other.events()).containsExactly("established");
        assertThat(active.session().lowerLayer().abortReachesPeer()).isFalse();
        assertThat(left.association().occupiedStreams()).isEqualTo(1);
    }

    @Test
    void anAbortNeedsNoRoomInSctp() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.establish();
        end.rest();
        end.pipe().window(0);

        active.session().abort();
        end.advance(0);

        assertThat(active.events()).containsExactly("established", "broken");
        assertThat(end.sent()).containsExactly("0:17 00 00 00 01");
    }

    @Test
    void aWithdrawnSessionThatIsNeverAnsweredKeepsTheStreamButNotTheAssociation() {
        SctpEnd end = SctpEnd.alone(1);
        SessionRecorder active = end.initiate();
        end.rest();
        active.session().withdraw();
        end.acknowledge();

        end.advance(LINGER);

        assertThat(active.events()).isEmpty();
        assertThat(end.events()).containsExactly("established", "idle");
        assertThat(end.association().hasFreeStream()).isFalse();
    }

    @Test
    void aWithdrawnSessionWhoseInitiateIsStuckIsGivenUpOnceItIsSent() {
        SctpEnd end = SctpEnd.alone(1);
        end.pipe().window(0);
        SessionRecorder active = end.initiate();
        end.association().produce();
        active.session().withdraw();
        end.advance(LINGER);
        assertThat(end.events()).containsExactly("established");

        end.pipe().window(8);
        end.pipe().requestOutput();
        end.rest();
        end.advance(LINGER);

        assertThat(end.sent()).containsExactly("0:17 00 00 00 01");
        assertThat(end.events()).containsExactly("established", "idle");
    }

    @Test
    @Requirement({"SCTP-6.1-01", "SCTP-6.6-03"})
    void aPeerThatBeginsAnotherSessionOnTheStreamEndsTheFormer() {
        SctpEnd end = SctpEnd.alone(1);
        end.inject(0, 17, "0000 0001");
        end.rest();
        end.acknowledge();
        SessionRecorder former = end.asked().getFirst().staysOpen();
        former.send(SEGMENT);
        end.rest();
        end.inject(0, 17, "0001 0004");

        end.inject(0, 17, "0000 0001 78");
        end.rest();

        SessionRecorder next = end.asked().getLast();
        assertThat(next.asked().privateData()).containsExactly(0x78);
        assertThat(former.events()).containsExactly("established", "peer closed", "broken");
        assertThat(former.cause()).isEqualTo("the peer began another session on stream 0");
        // A segment of the former session may be in flight.
        assertThat(next.events()).isEmpty();
        assertThat(end.sent()).containsExactly("0:17 00 00 00 02", "0:16 00 01 41");
        end.acknowledge();
        assertThat(next.events()).containsExactly("established");
        assertThat(end.sent()).containsExactly("0:17 00 00 00 02", "0:16 00 01 41", "0:17 00 00 00 02");
        assertThat(end.association().occupiedStreams()).isEqualTo(1);
    }

    @Test
    @Requirement({"SCTP-6-02", "SCTP-6.6-03"})
    void nothingOfAFormerSessionIsSentInThatWhichTookItsStream() {
        SctpEnd end = SctpEnd.alone(1);
        end.inject(0, 17, "0000 0001");
        end.rest();
        SessionRecorder former = end.asked().getFirst();
        end.inject(0, 17, "0001 0004");
        end.rest();
        // Its Terminate waits for the acknowledgement of the Accept.
        assertThat(former.events()).containsExactly("established", "peer closed");

        end.inject(0, 17, "0000 0001");
        end.rest();
        end.acknowledge();
        end.acknowledge();

        assertThat(former.events()).containsExactly("established", "peer closed", "broken");
        assertThat(end.sent()).containsExactly("0:17 00 00 00 02", "0:17 00 00 00 02");
    }

    @Test
    void aSegmentOfAFormerSessionThatSctpDidNotTakeYetGoesOutBeforeTheNextAccept() {
        SctpEnd end = SctpEnd.alone(1);
        end.inject(0, 17, "0000 0001");
        end.rest();
        end.acknowledge();
        SessionRecorder former = end.asked().getFirst().staysOpen();
        end.pipe().window(0);
        former.send(SEGMENT);
        end.association().produce();
        end.inject(0, 17, "0001 0004");
        end.inject(0, 17, "0000 0001");

        end.pipe().window(8);
        end.pipe().requestOutput();
        end.rest();
        assertThat(end.sent()).containsExactly("0:17 00 00 00 02", "0:16 00 01 41");
        end.acknowledge();

        assertThat(end.sent()).containsExactly("0:17 00 00 00 02", "0:16 00 01 41", "0:17 00 00 00 02");
        assertThat(end.asked().getLast().events()).containsExactly("established");
    }

    @Test
    void aPeerThatBeginsAndEndsSessionsWithoutAcknowledgingAnyLeavesOneForEachStreamAtMost() {
        SctpEnd end = SctpEnd.alone(1);
        for (int i = 0; i < 100; i++) {
            end.inject(0, 17, "0000 0001");
            end.inject(0, 17, "0001 0004");
            end.rest();
        }

        assertThat(end.asked()).hasSizeGreaterThan(50);
        assertThat(end.association().waitingSessions())
                .isLessThanOrEqualTo(end.association().streams());
        end.acknowledge();
        end.acknowledge();
        end.inject(0, 17, "0000 0001");
        end.rest();
        end.acknowledge();
        assertThat(end.asked().getLast().events()).containsExactly("established");
    }

    @Test
    void aPeerWhoseSessionWasTerminatedMayBeginAnother() {
        SctpEnd end = SctpEnd.alone(1);
        end.inject(0, 17, "0000 0001");
        end.rest();
        end.inject(0, 16, "9c40 41");
        end.acknowledge();
        end.acknowledge();
        assertThat(end.asked().getFirst().events()).containsExactly("established", "broken");

        end.inject(0, 17, "0000 0001");
        end.rest();

        assertThat(end.sent()).containsExactly("0:17 00 00 00 02", "0:17 00 01 00 04", "0:17 00 00 00 02");
        assertThat(end.asked().getLast().events()).containsExactly("established");
    }

    @Test
    void theInitiateOfASessionThatWasTerminatedBeforeItCameBeginsNoOther() {
        SctpEnd end = SctpEnd.alone(1);
        end.inject(0, 0, "0001 41");
        end.rest();

        end.inject(0, 17, "0000 0001");
        end.rest();
        assertThat(end.asked()).isEmpty();
        assertThat(end.sent()).containsExactly("0:17 00 00 00 04");
        end.acknowledge();
        end.inject(0, 17, "0000 0001");
        end.rest();

        assertThat(end.asked()).hasSize(1);
    }

    @Test
    @Requirement("SCTP-6.2-02")
    void aSessionThatEndsByAViolationCanBeEndedByThePeerToo() {
        SctpEnd end = SctpEnd.alone(1);
        end.inject(0, 17, "0000 0001");
        end.rest();
        end.inject(0, 17, "0001 0009");
        end.acknowledge();

        end.inject(0, 16, "0002 41");
        end.inject(0, 17, "0003 0004");
        end.rest();
        assertThat(end.association().occupiedStreams()).isEqualTo(1);
        end.acknowledge();

        assertThat(end.association().occupiedStreams()).isZero();
        assertThat(end.events()).containsExactly("established", "idle");
    }
}
