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
    void epollIsAskedAgainAfterAMoment() {
        assertThat(recent.isSelectDue(RecentInput.ALONE_NANOS)).isTrue();
        assertThat(recent.isSelectDue(2 * RecentInput.ALONE_NANOS - 1)).isFalse();
        assertThat(recent.isSelectDue(2 * RecentInput.ALONE_NANOS)).isTrue();
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
