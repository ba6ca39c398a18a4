// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.util.concurrent.TimeUnit;

/**
 * Lets other threads use the processor of a polling loop, and learns from how long they keep it.
 *
 * <p>Threads that work on the same messages soon yield in their turn. A thread that computes keeps the processor for a
 * slice of the scheduler, and does so again each time. Beside such a thread, a polling loop is slower than a sleeping
 * loop: the scheduler prefers a thread that wakes up. A host that takes the processor away from a virtual machine does
 * so only once.
 */
final class YieldBackoff {

    /** A thread that keeps the processor for this time, twice in a row, counts as computing. */
    static final long COMPUTES_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /**
     * The loop then stops yielding for this many times the time that it lost. When the same
     * happens again, the pause is at least twice the previous pause.
     */
    static final int FACTOR = 8;

    /** Longest time for which the loop stops yielding. */
    static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Runnable yielding;
    private boolean away;
    private boolean late;
    private long leftNanos;
    private long returnedNanos;
    private long pauseNanos;

    /** @param yielding yields the processor like {@link Thread#yield()} */
    YieldBackoff(Runnable yielding) {
        this.yielding = yielding;
    }

    /** Lets other threads run if any are ready. */
    void giveWay(long nanoTime) {
        away = true;
        leftNanos = nanoTime;
        yielding.run();
    }

    /** Notes that the loop runs again. Call this before anything else takes time. */
    void onRunning(long nanoTime) {
        if (!away) {
            return;
        }
        away = false;
        boolean wasLate = late;
        long nanos = nanoTime - leftNanos;
        late = nanos >= COMPUTES_NANOS;
        returnedNanos = nanoTime;
        pauseNanos = late && wasLate ? Math.min(MAX_PAUSE_NANOS, Math.max(FACTOR * nanos, 2 * pauseNanos)) : 0;
    }

    /** Returns whether a computing thread had the processor recently. */
    boolean isFutile(long nanoTime) {
        return pauseNanos > 0 && nanoTime - returnedNanos < pauseNanos;
    }
}
