// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SessionRecorder;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the limits on memory of chunks that arrive too early (RFC 5043 section 10). */
class EarlyChunksTest {

    /** Cost of a chunk of 100 bytes against these limits. */
    private static final int COST = 100 + EarlyChunks.OVERHEAD;

    private static final String REST = "00".repeat(98);

    /** Ways in which this side ends a session. */
    enum End {
        CLOSE,
        ABORT;

        void happen(DdpStreamSession session) {
            switch (this) {
                case CLOSE -> session.close();
                case ABORT -> session.abort();
            }
        }
    }

    private static AdaptationSettings settings(int chunks, int totalChunks, int strangersChunks) {
        return new AdaptationSettings(
                chunks * COST, totalChunks * COST, strangersChunks * COST, 100, 8, 100, Duration.ofSeconds(5));
    }

    private static SessionRecorder openPassive(SctpEnd end, int stream) {
        end.inject(stream, 17, "0000 0001");
        end.rest();
        return end.asked().getLast();
    }

    /** A chunk of 100 octets that waits for number 1. */
    private static void injectEarly(SctpEnd end, int stream, int ssn) {
        end.inject(stream, 16, String.format("%04x", ssn) + REST);
        end.rest();
    }

    @Test
    void failedAllocationLeavesTheBudgetAsItWas() {
        EarlyBudget budget = EarlyBudget.ofDevice(settings(3, 3, 3)).ofAssociation(settings(3, 3, 3));
        EarlyChunks chunks = new EarlyChunks(budget, capacity -> {
            throw new OutOfMemoryError("played");
        });

        for (int i = 0; i < 10; i++) {
            assertThatThrownBy(() -> chunks.put(1, 16, WireBuffer.allocate(100), 0, 100, true))
                    .isInstanceOf(OutOfMemoryError.class);
        }

        assertThat(budget.held()).isZero();
        assertThat(new EarlyChunks(budget, WireBuffer::allocate).put(1, 16, WireBuffer.allocate(100), 0, 100, true))
                .isNull();
    }

    @Test
    @Requirement("SCTP-10-04")
    void whatWaitsIsBoundedForAllSessionsTogetherAndReturnsWithThem() {
        SctpEnd end = SctpEnd.alone(settings(3, 100, 100), 3);
        SessionRecorder first = openPassive(end, 0);
        SessionRecorder second = openPassive(end, 1);

        injectEarly(end, 0, 2);
        injectEarly(end, 1, 2);
        injectEarly(end, 0, 3);
        assertThat(first.events()).containsExactly("established");
        injectEarly(end, 0, 4);
        assertThat(first.events()).containsExactly("established", "broken");
        assertThat(first.cause()).contains("more than " + 3 * COST + " bytes of chunks that wait");

        injectEarly(end, 1, 3);
        injectEarly(end, 1, 4);
        end.inject(1, 16, "0001 41");
        assertThat(second.events()).containsExactly("established");
        assertThat(second.segments()).hasSize(4);
        assertThat(end.association().earlyOctets()).isZero();
    }

    @Test
    @Requirement("SCTP-10-04")
    void whatWaitsIsBoundedForAllAssociationsTogetherAndNoneTakesFromTheOthersMoreThanItLeaves() {
        AdaptationSettings settings = settings(100, 6, 100);
        EarlyBudget budget = EarlyBudget.ofDevice(settings);
        SctpEnd greedy = SctpEnd.alone(settings, budget, 1);
        SctpEnd modest = SctpEnd.alone(settings, budget, 1);
        SessionRecorder greedySession = openPassive(greedy, 0);
        SessionRecorder modestSession = openPassive(modest, 0);

        for (int ssn = 2; ssn < 5; ssn++) {
            injectEarly(greedy, 0, ssn);
        }
        injectEarly(modest, 0, 2);
        assertThat(greedySession.events()).containsExactly("established");
        injectEarly(greedy, 0, 5);
        assertThat(greedySession.events()).containsExactly("established", "broken");
        assertThat(greedySession.cause()).contains("than the fair share of this association, of " + 6 * COST);

        injectEarly(modest, 0, 3);
        injectEarly(modest, 0, 4);
        modest.inject(0, 16, "0001 41");
        assertThat(modestSession.events()).containsExactly("established");
        assertThat(modestSession.segments()).hasSize(4);
    }

    @Test
    void whatAnAssociationHeldIsLeftToOthersWhenItIsGone() {
        AdaptationSettings settings = settings(100, 2, 100);
        EarlyBudget budget = EarlyBudget.ofDevice(settings);
        SctpEnd gone = SctpEnd.alone(settings, budget, 1);
        openPassive(gone, 0);
        injectEarly(gone, 0, 2);
        SctpEnd other = SctpEnd.alone(settings, budget, 1);
        SessionRecorder session = openPassive(other, 0);

        gone.pipe().lose("gone");
        injectEarly(other, 0, 2);

        assertThat(session.events()).containsExactly("established");
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void aSessionThatEndsHereGivesBackTheOctetsOfSegmentsThatNobodyWillTake(End way) {
        SctpEnd end = SctpEnd.alone(settings(3, 100, 100), 1);
        SessionRecorder session = openPassive(end, 0);
        injectEarly(end, 0, 2);
        injectEarly(end, 0, 3);
        assertThat(end.association().earlyOctets()).isEqualTo(2 * COST);

        way.happen(session.session());
        end.rest();
        assertThat(end.association().earlyOctets()).isEqualTo(2 * EarlyChunks.OVERHEAD);

        // Chunks that the peer sends before it knows of the end are still recognized.
        end.inject(0, 16, "0001 41");
        end.inject(0, 17, "0004 0004");
        end.acknowledge();
        end.acknowledge();
        assertThat(session.segments()).isEmpty();
        assertThat(end.association().earlyOctets()).isZero();
        assertThat(end.association().occupiedStreams()).isZero();
    }

    @Test
    @Requirement("SCTP-10-04")
    void aSessionThatNobodyHasAcceptedMayHoldLittleAndTakesNothingFromOthers() {
        AdaptationSettings settings = settings(3, 100, 2);
        EarlyBudget budget = EarlyBudget.ofDevice(settings);
        SctpEnd end = SctpEnd.alone(settings, budget, 4);
        SessionRecorder open = openPassive(end, 3);
        end.onInitiate(recorder -> true);
        SessionRecorder undecided = openPassive(end, 0);

        injectEarly(end, 0, 2);
        injectEarly(end, 1, 2);
        assertThat(undecided.events()).isEmpty();
        injectEarly(end, 0, 3);
        assertThat(undecided.events()).containsExactly("failed");
        assertThat(undecided.cause()).contains("more than " + 2 * COST + " bytes of chunks that wait");

        for (int ssn = 2; ssn < 5; ssn++) {
            injectEarly(end, 3, ssn);
        }
        assertThat(open.events()).containsExactly("established");
    }

    @Test
    @Requirement("SCTP-10-04")
    void aSessionThatWasRejectedMayHoldNoMoreThanOneThatWaits() {
        SctpEnd end = SctpEnd.alone(settings(3, 100, 1), 1);
        end.onInitiate(recorder -> true);
        SessionRecorder rejected = openPassive(end, 0);
        rejected.reject(SctpEnd.options());
        end.rest();

        for (int ssn = 3; ssn < 6; ssn++) {
            injectEarly(end, 0, ssn);
        }

        assertThat(end.association().earlyOctets()).isZero();
        assertThat(end.association().counters().violations()).isOne();
    }

    @Test
    void strangersOfAllAssociationsHaveAnEighthOfWhatTheOthersHave() {
        AdaptationSettings settings = settings(100, 16, 100);
        EarlyBudget budget = EarlyBudget.ofDevice(settings);
        SctpEnd one = SctpEnd.alone(settings, budget, 2);
        SctpEnd other = SctpEnd.alone(settings, budget, 2);

        injectEarly(one, 0, 2);
        injectEarly(other, 0, 2);

        assertThat(one.association().earlyOctets()).isEqualTo(COST);
        assertThat(other.sent()).containsExactly("0:17 00 00 00 04");
    }

    @Test
    void aChunkIsChargedForAtLeastWhatItCosts() {
        SctpEnd end = SctpEnd.alone(1);
        openPassive(end, 0);
        int chunks = 10_000;
        byte[][] messages = new byte[chunks][];
        for (int i = 0; i < chunks; i++) {
            messages[i] = new byte[] {(byte) (i + 2 >> 8), (byte) (i + 2), 0x41};
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        long before = threads.getCurrentThreadAllocatedBytes();
        for (byte[] message : messages) {
            end.pipe().inject(0, 16, message);
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        // The test's own buffer of each message is among it.
        assertThat(allocated / 2).isLessThanOrEqualTo(end.association().earlyOctets());
    }
}
