// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class LoadTest {

    private static Load load(String machine, String own) {
        return Load.parse("cpu  " + machine, "7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 " + own + " 20 0");
    }

    @Test
    void othersTookWhatIsNeitherOwnNorIdle() {
        Load before = load("100 0 100 700 100 0 0 0 0 0", "10 10 20 20");
        Load after = load("200 10 150 800 110 5 5 20 0 0", "40 20 60 40");

        // 300 ticks, of which 110 were idle and 100 our own.
        assertThat(after.othersPercentSince(before)).isCloseTo(30, within(0.01));
    }

    @Test
    void noTimeIsNoLoad() {
        Load load = load("1 1 1 1 1 1 1 1 0 0", "1 1 1 1");

        assertThat(load.othersPercentSince(load)).isZero();
    }

    @Test
    void thisMachineTells() {
        assertThat(Load.now().total()).isPositive();
    }
}
