// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HistogramTest {

    @Test
    void isZeroWithoutValues() {
        Histogram histogram = new Histogram();
        assertThat(histogram.count()).isZero();
        assertThat(histogram.min()).isZero();
        assertThat(histogram.max()).isZero();
        assertThat(histogram.mean()).isZero();
        assertThat(histogram.percentile(50)).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            longs = {0, 1, 63, 64, 65, 127, 128, 129, 1000, 4095, 4096, 123_456_789, (1L << 40) - 1, 1L << 40, 1L << 50
            })
    void givesASingleValueBackExactly(long value) {
        Histogram histogram = new Histogram();
        histogram.record(value);
        assertThat(histogram.percentile(50)).isEqualTo(value);
        assertThat(histogram.min()).isEqualTo(value);
        assertThat(histogram.max()).isEqualTo(value);
    }

    @ParameterizedTest
    @ValueSource(doubles = {1, 10, 50, 90, 99, 99.9, 100})
    void percentilesAreAtMostOneInSixtyFourTooHigh(double percent) {
        Histogram histogram = new Histogram();
        for (int value = 1; value <= 1_000_000; value++) {
            histogram.record(value);
        }
        double exact = percent * 10_000;
        assertThat((double) histogram.percentile(percent)).isBetween(exact, exact * (1 + 1 / 64.0));
    }

    @Test
    void addsUpWithAnother() {
        Histogram one = new Histogram();
        one.record(10);
        Histogram other = new Histogram();
        other.record(30);
        other.record(-5);
        one.add(other);
        assertThat(one.count()).isEqualTo(3);
        assertThat(one.min()).isZero();
        assertThat(one.max()).isEqualTo(30);
        assertThat(one.percentile(66)).isEqualTo(10);
        assertThat(one.mean()).isBetween(13.3, 13.4);
    }
}
