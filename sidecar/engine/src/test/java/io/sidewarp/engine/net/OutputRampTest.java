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
    private long now = -1;

    private List<Integer> sizesOfAStream(int buffers) {
        List<Integer> sizes = new ArrayList<>();
        for (int i = 1; i <= buffers; i++) {
            sizes.add(ramp.next(now));
            ramp.onProduced(i < buffers);
            now += OutputRamp.PAUSE_NANOS;
            ramp.onWritten(now);
            now += MAKING;
        }
        return sizes;
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
        now += OutputRamp.PAUSE_NANOS;
        assertThat(sizesOfAStream(2)).containsExactly(OutputRamp.FIRST, 2 * OutputRamp.FIRST);
    }

    @Test
    void waitingForOtherConnectionsIsNoPause() {
        ramp.next(now);
        ramp.onProduced(true);
        ramp.onWritten(now);
        now += 10 * OutputRamp.PAUSE_NANOS;
        assertThat(ramp.next(now)).isEqualTo(2 * OutputRamp.FIRST);
    }

    @Test
    void moreToSendWithoutAPauseIsOfTheSameStream() {
        sizesOfAStream(1);
        assertThat(ramp.next(now)).isEqualTo(2 * OutputRamp.FIRST);
    }

    /** MPA gets on with a buffer of that size in any case. */
    @Test
    void theFirstBufferHoldsTheLargestFpdu() {
        assertThat(OutputRamp.FIRST).isGreaterThanOrEqualTo(NetSettings.MIN_STAGING_CAPACITY);
    }
}
