// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.function.LongSupplier;

/** Limits how often an entry is logged that strangers can cause. */
public final class LogInterval {
    private final long nanos;
    private final LongSupplier clock;
    private long next;
    private int omitted;

    /** @param clock returns nanoseconds, like {@link System#nanoTime} */
    public LogInterval(Duration interval, LongSupplier clock) {
        this.nanos = interval.toNanos();
        this.clock = clock;
        this.next = clock.getAsLong();
    }

    /**
     * Returns empty if nothing may be logged now. Otherwise returns the number of entries omitted since the last one.
     */
    public synchronized OptionalInt next() {
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
