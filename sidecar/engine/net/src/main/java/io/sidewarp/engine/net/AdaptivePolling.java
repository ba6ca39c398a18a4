// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.SelectStrategy;
import io.netty.util.IntSupplier;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Decides how an event loop without work waits: the loop polls for a moment before it sleeps. A sleeping loop needs a
 * wake-up. The wake-up costs the waking thread more than handing over a segment, and it delays the sleeper by tens of
 * microseconds.
 *
 * <p>The polling time adapts. If work arrives within the limit, the loop polls twice as long the next time, up to the
 * limit; this also applies if the loop slept meanwhile. Otherwise the polling time is halved. A loop with rare work
 * therefore soon sleeps at once.
 *
 * <p>The loop yields the processor to other threads while it polls. It does not poll beside a thread that computes: see
 * {@link YieldBackoff}. A polling loop checks the {@link RecentInput} first. Belongs to one loop.
 */
final class AdaptivePolling implements SelectStrategy {

    /** The shortest polling time is the limit divided by this factor, so that the loop notices the start of traffic. */
    private static final int RANGE = 16;

    /** Makes the loop continue with its tasks. */
    private static final int NOTHING_READY = 0;

    private final long limitNanos;
    private final LongSupplier clock;
    private final YieldBackoff others;
    private long budgetNanos;
    private boolean polling;
    private boolean slept;
    private boolean skipped;
    private long idleSinceNanos;

    /**
     * @param limit the longest time to poll; zero sleeps at once
     * @param clock returns the time like {@link System#nanoTime()}
     */
    AdaptivePolling(Duration limit, LongSupplier clock, YieldBackoff others) {
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
        // The first turn with work from a source does this work before it asks the kernel for input.
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

    /**
     * Notes that the loop is idle. A loop that does not poll counts as idle whenever it has no task, because only the
     * sleep shows whether there is input.
     */
    private static int sleep(long nanoTime) {
        LoopIdleness.ofThisLoop().onIdle(nanoTime);
        return SELECT;
    }

    /** @param idleNanos time without work; after a sleep it includes the work that the loop has done since */
    private void adapt(long idleNanos) {
        budgetNanos = idleNanos <= limitNanos
                ? Math.min(limitNanos, 2 * budgetNanos)
                : Math.max(limitNanos / RANGE, budgetNanos / 2);
    }
}
