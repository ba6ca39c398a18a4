// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LogIntervalTest {
    @Test
    void thereIsOneInAnIntervalAndItTellsOfThoseBefore() {
        // A clock of nanoseconds may begin anywhere.
        AtomicLong clock = new AtomicLong(Long.MAX_VALUE);
        LogInterval interval = new LogInterval(Duration.ofSeconds(1), clock::get);

        assertThat(interval.next()).hasValue(0);
        assertThat(interval.next()).isEmpty();
        clock.addAndGet(999_999_999);
        assertThat(interval.next()).isEmpty();
        clock.incrementAndGet();
        assertThat(interval.next()).hasValue(2);
        assertThat(interval.next()).isEmpty();
    }
}
