// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecentInputTest {

    private static final RecentInput.Source SOURCE = () -> false;
    private static final RecentInput.Source OTHER = () -> true;
    private static final long PATIENCE = 1_000;

    private final RecentInput recent = new RecentInput();

    @Test
    void aConnectionIsKnownThatHadLittleInputTwiceInARow() {
        recent.onInput(SOURCE, 1, 0);
        assertThat(recent.isKnown()).isFalse();
        recent.onInput(SOURCE, RecentInput.SMALL, 0);
        assertThat(recent.isKnown()).isTrue();
        recent.onInput(OTHER, 1, 0);
        assertThat(recent.isKnown()).isFalse();
        recent.onInput(SOURCE, 1, 0);
        assertThat(recent.isKnown()).isFalse();
    }

    @Test
    void streamsAreNotKnownInEitherDirection() {
        recent.onInput(SOURCE, 1, 0);
        recent.onInput(SOURCE, RecentInput.SMALL + 1, 0);
        assertThat(recent.isKnown()).isFalse();

        recent.onInput(SOURCE, 1, 0);
        recent.onInput(SOURCE, 1, 0);
        recent.onOutput(RecentInput.SMALL);
        assertThat(recent.isKnown()).isTrue();
        recent.onOutput(RecentInput.SMALL + 1);
        assertThat(recent.isKnown()).isFalse();
    }

    @Test
    void aStreamWhoseLastSegmentIsShortIsNotKnown() {
        for (int turn = 0; turn < 3; turn++) {
            recent.onInput(SOURCE, 16 * RecentInput.SMALL, 0);
            recent.onInput(SOURCE, 1, 0);
            assertThat(recent.isKnown()).isFalse();
        }

        recent.onInput(SOURCE, 1, 0);
        assertThat(recent.isKnown()).isTrue();
    }

    @Test
    void epollIsAskedAgainAfterSomeTurnsAndAMoment() {
        long now = RecentInput.ALONE_NANOS;
        assertThat(recent.isSelectDue(now)).as("at first").isTrue();

        for (int turn = 1; turn < RecentInput.ALONE_TURNS; turn++) {
            assertThat(recent.isSelectDue(2 * now)).as("turn %d", turn).isFalse();
        }
        assertThat(recent.isSelectDue(2 * now)).isTrue();

        for (int turn = 1; turn <= RecentInput.ALONE_TURNS; turn++) {
            assertThat(recent.isSelectDue(3 * now - 1)).as("too early").isFalse();
        }
        assertThat(recent.isSelectDue(3 * now)).isTrue();
    }

    @Test
    void aConnectionThatIsSilentForLongIsForgotten() {
        recent.onInput(SOURCE, 1, 0);
        recent.onInput(SOURCE, 1, 0);

        recent.isSelectDue(PATIENCE);
        assertThat(recent.take(PATIENCE)).isFalse();
        assertThat(recent.isKnown()).isTrue();

        recent.isSelectDue(PATIENCE + 1);
        assertThat(recent.take(PATIENCE)).isFalse();
        assertThat(recent.isKnown()).isFalse();
    }
}
