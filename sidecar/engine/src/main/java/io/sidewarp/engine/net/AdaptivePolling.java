// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.SelectStrategy;
import io.netty.util.IntSupplier;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * How an event loop that ran out of work waits: it polls for a moment before it sleeps. A loop that sleeps has to be
 * woken, which costs the waking thread more than handing over a segment does, and the sleeper tens of microseconds.
 * Polling that finds something doubles the time for the next, up to the limit; polling in vain halves it, so that a loop
 * with work now and then soon sleeps at once. Other threads that want the processor get it. Belongs to one loop.
 */
final class AdaptivePolling implements SelectStrategy {

    /** The shortest time is the limit over this, so that traffic which sets in is noticed. */
    private static final int RANGE = 16;

    private final long limitNanos;
    private final LongSupplier clock;
    private long budgetNanos;
    private boolean polling;
    private long deadlineNanos;

    /**
     * @param limit the longest time to poll; zero sleeps at once
     * @param clock as {@link System#nanoTime()}
     */
    AdaptivePolling(Duration limit, LongSupplier clock) {
        this.limitNanos = limit.toNanos();
        this.clock = clock;
        this.budgetNanos = limitNanos;
    }

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // others may wait for the processor, first of all whom this loop serves
    public int calculateStrategy(IntSupplier selectNow, boolean hasTasks) throws Exception {
        if (limitNanos == 0) {
            return hasTasks ? selectNow.get() : SELECT;
        }
        int ready = selectNow.get();
        if (hasTasks || ready > 0) {
            if (polling) {
                polling = false;
                budgetNanos = Math.min(limitNanos, 2 * budgetNanos);
            }
            return ready;
        }
        if (!polling) {
            polling = true;
            deadlineNanos = clock.getAsLong() + budgetNanos;
        } else if (clock.getAsLong() - deadlineNanos >= 0) {
            polling = false;
            budgetNanos = Math.max(limitNanos / RANGE, budgetNanos / 2);
            return SELECT;
        }
        Thread.yield();
        return CONTINUE;
    }
}
