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
 * A loop that had work again within the limit polls twice as long the next time, up to the limit, also when it slept
 * meanwhile; one that had not, half as long, so that a loop with work now and then soon sleeps at once. Other threads that
 * want the processor get it; beside one that computes a loop does not poll: see {@link GivingWay}. While it polls it looks at
 * the {@link RecentInput} first. Belongs to one loop.
 */
final class AdaptivePolling implements SelectStrategy {

    /** The shortest time is the limit over this, so that traffic which sets in is noticed. */
    private static final int RANGE = 16;

    /** Has a loop go on with its tasks. */
    private static final int NOTHING_READY = 0;

    private final long limitNanos;
    private final LongSupplier clock;
    private final GivingWay others;
    private long budgetNanos;
    private boolean polling;
    private boolean slept;
    private boolean skipped;
    private long idleSinceNanos;

    /**
     * @param limit the longest time to poll; zero sleeps at once
     * @param clock as {@link System#nanoTime()}
     */
    AdaptivePolling(Duration limit, LongSupplier clock, GivingWay others) {
        this.limitNanos = limit.toNanos();
        this.clock = clock;
        this.others = others;
        this.budgetNanos = limitNanos;
    }

    @Override
    public int calculateStrategy(IntSupplier selectNow, boolean hasTasks) throws Exception {
        PolledSources sources = PolledSources.ofThisLoop();
        boolean polled = !sources.isEmpty() && sources.poll();
        if (limitNanos == 0) {
            return hasTasks || polled || !sources.arm() ? selectNow.get() : sleep(clock.getAsLong());
        }
        long now = clock.getAsLong();
        others.onRunning(now);
        if (slept) {
            slept = false;
            adapt(now - idleSinceNanos);
        }
        RecentInput recent = RecentInput.ofThisLoop();
        // The first turn with work from a source carries it out before it asks the kernel for input.
        boolean asks = !polled || skipped;
        skipped = !asks;
        boolean selects = asks && (!recent.isKnown() || recent.isSelectDue(now));
        int ready = selects ? selectNow.get() : NOTHING_READY;
        boolean taken = asks && !selects && recent.take(limitNanos);
        if (hasTasks || polled || taken || ready > 0) {
            if (polling) {
                polling = false;
                adapt(0);
            }
            return ready;
        }
        LoopIdleness.ofThisLoop().onIdle(now);
        if (!polling) {
            polling = true;
            idleSinceNanos = now;
        }
        boolean futile = others.isFutile(now);
        if (futile || now - idleSinceNanos >= budgetNanos) {
            if (!sources.arm()) {
                return CONTINUE;
            }
            polling = false;
            slept = !futile;
            recent.forget();
            return SELECT;
        }
        others.giveWay(now);
        return CONTINUE;
    }

    /** Whether there is input shows only then: a loop that does not poll is idle whenever it has no task. */
    private static int sleep(long nanoTime) {
        LoopIdleness.ofThisLoop().onIdle(nanoTime);
        return SELECT;
    }

    /** @param idleNanos how long there was nothing to do, with what the loop did since when it slept */
    private void adapt(long idleNanos) {
        budgetNanos = idleNanos <= limitNanos
                ? Math.min(limitNanos, 2 * budgetNanos)
                : Math.max(limitNanos / RANGE, budgetNanos / 2);
    }
}
