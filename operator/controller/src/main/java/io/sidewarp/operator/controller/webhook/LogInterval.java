// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.webhook;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.function.LongSupplier;

/** How often something goes to the log that strangers can cause. */
final class LogInterval {
    private final long nanos;
    private final LongSupplier clock;
    private long next;
    private int omitted;

    /** @param clock gives nanoseconds, as {@link System#nanoTime} */
    LogInterval(Duration interval, LongSupplier clock) {
        this.nanos = interval.toNanos();
        this.clock = clock;
        this.next = clock.getAsLong();
    }

    /** Empty: not now. Else how many times it was not, since the last time. */
    synchronized OptionalInt next() {
        long now = clock.getAsLong();
        if (now - next < 0) {
            omitted++;
            return OptionalInt.empty();
        }
        int before = omitted;
        omitted = 0;
        next = now + nanos;
        return OptionalInt.of(before);
    }
}
