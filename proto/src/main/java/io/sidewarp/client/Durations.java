// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.time.Duration;

/** How long to wait. */
final class Durations {

    static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    private Durations() {}

    /** Also of durations that a long does not hold in nanoseconds, as callers give them who mean for ever. */
    static long nanos(Duration duration) {
        return duration.compareTo(FOREVER) >= 0 ? Long.MAX_VALUE : duration.toNanos();
    }
}
