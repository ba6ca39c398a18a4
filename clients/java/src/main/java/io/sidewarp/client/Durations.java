// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Time limits of waiting. */
final class Durations {

    static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    private Durations() {}

    /**
     * Returns the nanoseconds of a duration. A duration that does not fit, which callers use for no limit, gives the
     * largest value.
     */
    static long nanos(Duration duration) {
        return duration.compareTo(FOREVER) >= 0 ? Long.MAX_VALUE : duration.toNanos();
    }

    /** Writes a duration for people, as in {@code 5 s} and {@code 500 ms}. */
    static String text(Duration duration) {
        if (duration.equals(duration.truncatedTo(ChronoUnit.SECONDS))) {
            return duration.toSeconds() + " s";
        }
        return duration.compareTo(Duration.ofMillis(1)) >= 0 ? duration.toMillis() + " ms" : duration.toNanos() + " ns";
    }
}
