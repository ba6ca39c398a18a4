// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.testing.SctpEnd;
import io.sidewarp.engine.testing.SessionRecorder;
import org.junit.jupiter.api.Test;

/** Tests the limit on ended sessions of a peer whose streams are not free yet. */
class EndedSessionsTest {

    /** More sessions than may be kept of all associations together. */
    private static final int MANY = 10_000;

    private static final int BROKEN_AT_MOST = 64;

    /** Sessions that the peer begins until its association is aborted, each refused and none acknowledged. */
    private static int begin(SctpEnd end, int most) {
        end.onInitiate(SessionRecorder::refuse);
        int begun = 0;
        while (begun < most && end.pipe().aborted() == null) {
            end.inject(begun, 17, "0000 0001");
            begun++;
        }
        return begun;
    }

    @Test
    void aPeerThatBreaksSessionAfterSessionLosesItsAssociation() {
        SctpEnd end = SctpEnd.alone(1024);
        int broken = 0;

        while (broken < 1024 && end.pipe().aborted() == null) {
            end.inject(broken, 16, "0000 41");
            end.acknowledge();
            broken++;
        }

        assertThat(end.pipe().aborted()).isEqualTo("the peer broke RFC 5043 in more than 64 sessions");
        assertThat(broken).isEqualTo(BROKEN_AT_MOST + 1);
        assertThat(end.events()).endsWith("broken");
        assertThat(end.association().occupiedStreams()).isZero();
    }

    @Test
    void aPeerThatBreaksSessionsWhichAnApplicationAcceptedLosesItsAssociationToo() {
        SctpEnd end = SctpEnd.alone(1024);
        int broken = 0;

        while (broken < 1024 && end.pipe().aborted() == null) {
            end.inject(broken, 17, "0000 0001");
            end.rest();
            end.inject(broken, 17, "0001 0002");
            end.inject(broken, 16, "0001 41");
            end.acknowledge();
            broken++;
        }

        assertThat(broken).isEqualTo(BROKEN_AT_MOST + 1);
        assertThat(end.asked().getFirst().events()).containsExactly("established", "broken");
    }

    @Test
    void aSessionThatTakesTheStreamOfABrokenOneTakesItsPlace() {
        SctpEnd end = SctpEnd.alone(1);

        for (int i = 0; i < 2 * BROKEN_AT_MOST; i++) {
            end.inject(0, 17, "0000 0001");
            end.rest();
            end.inject(0, 17, "0001 0002");
            end.acknowledge();
        }

        assertThat(end.pipe().aborted()).isNull();
        assertThat(end.association().counters().violations()).isEqualTo(2 * BROKEN_AT_MOST);
    }

    @Test
    void aPeerThatDoesNotAcknowledgeRefusalsLosesItsAssociation() {
        AdaptationSettings settings = AdaptationSettings.defaults();
        EarlyBudget budget = EarlyBudget.ofDevice(settings);
        SctpEnd modest = SctpEnd.alone(settings, budget, 1024);
        SctpEnd greedy = SctpEnd.alone(settings, budget, MANY);

        assertThat(begin(modest, 1024)).isEqualTo(1024);
        int begun = begin(greedy, MANY);

        assertThat(greedy.pipe().aborted()).contains("sessions did not open");
        assertThat(begun).isBetween(1024, 4096);
        assertThat(modest.pipe().aborted()).isNull();
    }

    @Test
    void whatAnAssociationHadIsLeftToOthersWhenItIsGone() {
        AdaptationSettings settings = AdaptationSettings.defaults();
        EarlyBudget budget = EarlyBudget.ofDevice(settings);
        SctpEnd gone = SctpEnd.alone(settings, budget, MANY);
        int begun = begin(gone, MANY);
        gone.rest();

        SctpEnd other = SctpEnd.alone(settings, budget, MANY);

        assertThat(begun).isLessThan(MANY);
        assertThat(begin(other, MANY)).isEqualTo(begun);
    }

    @Test
    void aPeerThatAcknowledgesMayBeRefusedAnyNumberOfSessions() {
        SctpEnd end = SctpEnd.alone(1024);

        for (int i = 0; i < 10; i++) {
            begin(end, 1024);
            end.pipe().window(2048);
            end.rest();
            end.acknowledge();
            assertThat(end.association().occupiedStreams()).isZero();
        }

        assertThat(end.pipe().aborted()).isNull();
    }
}
