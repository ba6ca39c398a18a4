// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutputRampTest {

    private static final long MAKING = 10_000;

    private final OutputRamp ramp = new OutputRamp();
    private final LoopIdleness idleness = new LoopIdleness();
    private long now = -1;

    private List<Integer> sizesOfAStream(int buffers) {
        List<Integer> sizes = new ArrayList<>();
        for (int i = 0; i < buffers; i++) {
            sizes.add(next());
            now += OutputRamp.PAUSE_NANOS;
            ramp.onWritten(now);
            now += MAKING;
        }
        return sizes;
    }

    private int next() {
        return ramp.next(now, idleness);
    }

    @Test
    void aStreamBeginsWithASmallBufferAndGrowsToTheLargest() {
        assertThat(sizesOfAStream(4))
                .containsExactly(
                        OutputRamp.FIRST,
                        2 * OutputRamp.FIRST,
                        NetSettings.LARGE_OUTPUT_CAPACITY,
                        NetSettings.LARGE_OUTPUT_CAPACITY);
    }

    @Test
    void whatComesBehindAPauseBeginsAnew() {
        sizesOfAStream(4);
        idleness.onIdle(now);
        now += OutputRamp.PAUSE_NANOS;
        assertThat(sizesOfAStream(2)).containsExactly(OutputRamp.FIRST, 2 * OutputRamp.FIRST);
    }

    @Test
    void aLoopThatWorksDoesNotPause() {
        idleness.onIdle(now);
        sizesOfAStream(1);
        now += 10 * OutputRamp.PAUSE_NANOS;
        assertThat(next()).isEqualTo(2 * OutputRamp.FIRST);
    }

    @Test
    void aMomentWithoutWorkIsNoPause() {
        sizesOfAStream(1);
        idleness.onIdle(now);
        assertThat(next()).isEqualTo(2 * OutputRamp.FIRST);
    }

    /** MPA gets on with a buffer of that size in any case. */
    @Test
    void theFirstBufferHoldsTheLargestFpdu() {
        assertThat(OutputRamp.FIRST).isGreaterThanOrEqualTo(NetSettings.MIN_STAGING_CAPACITY);
    }
}
