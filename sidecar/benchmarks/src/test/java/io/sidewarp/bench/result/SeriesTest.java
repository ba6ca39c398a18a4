// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class SeriesTest {

    @Test
    void theMedianOfAnOddNumberIsTheOneInTheMiddle() {
        Series series = new Series(List.of(5.0, 1.0, 3.0));

        assertThat(series.median()).isEqualTo(3);
        assertThat(series.min()).isEqualTo(1);
        assertThat(series.max()).isEqualTo(5);
    }

    @Test
    void theMedianOfAnEvenNumberIsTheMeanOfTheTwoInTheMiddle() {
        assertThat(new Series(List.of(8.0, 1.0, 2.0, 4.0)).median()).isEqualTo(3);
    }

    @Test
    void aQuarterOfTheSamplesIsBeyondEachQuartile() {
        assertThat(new Series(List.of(8.0, 1.0, 7.0, 2.0, 6.0, 3.0, 5.0, 4.0)).quartiles())
                .containsExactly(3.0, 6.0);
        assertThat(new Series(List.of(5.0)).quartiles()).containsExactly(5.0, 5.0);
    }

    @Test
    void ratiosAreThoseOfTheSameTurn() {
        Series before = new Series(List.of(10.0, 2.0, 4.0));

        assertThat(new Series(List.of(20.0, 3.0, 4.0)).over(before).samples()).containsExactly(2.0, 1.5, 1.0);
        assertThatThrownBy(() -> new Series(List.of(1.0)).over(before))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("by turns");
    }

    @Test
    void aSeriesHasASample() {
        assertThatThrownBy(() -> new Series(List.of())).isInstanceOf(IllegalArgumentException.class);
    }
}
