// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.OpenTelemetry;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which work requests are sampled for latency. */
class WorkMeterTest {

    private static WorkMeter meter(int sampling) {
        return new WorkTotals(OpenTelemetry.noop().getMeter("test"), sampling, () -> {}).meter();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 8, 16})
    void workThatComesInTurnsIsMeasuredOfEachKind(int kinds) {
        WorkMeter meter = meter(16);
        int[] samples = new int[kinds];

        for (int i = 0; i < kinds * 8000; i++) {
            samples[i % kinds] += meter.begin() == 0 ? 0 : 1;
        }

        // 500 of 8000 on average; the bounds are nine standard deviations away.
        assertThat(IntStream.of(samples)).allSatisfy(count -> assertThat(count).isBetween(300, 700));
    }

    @Test
    void eachIsMeasuredWhenItIsOneOfOne() {
        WorkMeter meter = meter(1);

        assertThat(IntStream.range(0, 100).mapToLong(i -> meter.begin())).doesNotContain(0L);
    }

    @Test
    void theFirstIsMeasured() {
        assertThat(meter(16).begin()).isNotZero();
    }
}
