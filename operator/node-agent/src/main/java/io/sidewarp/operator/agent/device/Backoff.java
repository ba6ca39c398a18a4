// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.device;

import java.time.Duration;

/** Retry delays that double from a first to a longest delay. */
public final class Backoff {

    private final Duration first;
    private final Duration longest;
    private int failures;

    public Backoff(Duration first, Duration longest) {
        this.first = first;
        this.longest = longest;
    }

    /** Counts a failure and returns the delay before the next attempt. */
    public Duration next() {
        // After 30 doublings any sensible first delay exceeds the longest one.
        Duration wait = first.multipliedBy(1L << Math.min(failures, 30));
        failures++;
        return wait.compareTo(longest) > 0 ? longest : wait;
    }

    public void reset() {
        failures = 0;
    }
}
