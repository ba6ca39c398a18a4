// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import java.util.concurrent.TimeUnit;

/**
 * How a loop that polls lets other threads have its processor, and what it learns from that. Threads that work for the same
 * messages soon give way in their turn. One that computes keeps the processor for a slice of the scheduler, and again each time:
 * a loop that goes on to poll beside it is slower than one that sleeps, which the scheduler prefers when it wakes up. A host that
 * takes the processor of a virtual machine away does so once.
 */
final class GivingWay {

    /** Who keeps the processor for so long, twice in a row, computes. */
    static final long COMPUTES_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** After that the loop does not give way for so many times as long, and for twice as long when it was so again. */
    static final int FACTOR = 8;

    /** The longest time that it does not. */
    static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Runnable yielding;
    private boolean away;
    private boolean late;
    private long leftNanos;
    private long returnedNanos;
    private long pauseNanos;

    /** @param yielding as {@link Thread#yield()} */
    GivingWay(Runnable yielding) {
        this.yielding = yielding;
    }

    /** Lets other threads run, if there are any that could. */
    void giveWay(long nanoTime) {
        away = true;
        leftNanos = nanoTime;
        yielding.run();
    }

    /** The loop runs; to be called before anything else takes time. */
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

    /** Whether a thread that computes had the processor lately. */
    boolean isFutile(long nanoTime) {
        return pauseNanos > 0 && nanoTime - returnedNanos < pauseNanos;
    }
}
