// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests the counting by TSNs. */
final class TsnTrackerTest {

    private final TsnTracker tracker = new TsnTracker();

    @Test
    void countsAcrossTheWrapOfTsns() {
        for (int tsn = -3; tsn <= 3; tsn++) {
            tracker.onSent(tsn);
        }
        tracker.onAcknowledged(1);

        assertThat(tracker.sent()).isEqualTo(7);
        assertThat(tracker.acknowledged()).isEqualTo(5);
    }

    @Test
    void aChunkSentAgainIsARetransmission() {
        tracker.onSent(10);
        tracker.onSent(11);
        tracker.onSent(10);

        assertThat(tracker.sent()).isEqualTo(2);
        assertThat(tracker.retransmitted()).isOne();
    }

    @Test
    void anAcknowledgementOfWhatWasNotSentOrOfTheOldIsIgnored() {
        tracker.onAcknowledged(5);
        tracker.onSent(10);
        tracker.onAcknowledged(11);
        assertThat(tracker.acknowledged()).isZero();

        tracker.onAcknowledged(10);
        tracker.onAcknowledged(9);
        assertThat(tracker.acknowledged()).isOne();
    }
}
