// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.concurrent.TimeUnit;

/** Strategy of threads that wait for completions of a queue with rings, or for room in its rings. */
public enum WaitStrategy {
    /** Never gives up the processor. Has the shortest latency, and uses a whole processor for each waiting thread. */
    SPIN,
    /**
     * Offers the processor to other threads in each turn. As fast as {@link #SPIN} if a processor is free. Uses a whole
     * processor if no other thread wants it. Linux yields only to threads of the same control group, and takes a whole
     * time slice for it. Prefer {@link #SLEEP} on a processor that other threads keep busy.
     */
    YIELD,
    /**
     * Spins for 20 microseconds, offers the processor to other threads for another 60, and then sleeps. Fast while
     * completions follow each other closely, and without cost otherwise. The default.
     */
    ADAPTIVE,
    /**
     * Sleeps at once. Uses the least processor time, and is best beside threads that compute. Each wait costs a wake-up
     * by the kernel, about ten microseconds.
     */
    SLEEP;

    private static final boolean ONE_PROCESSOR = Runtime.getRuntime().availableProcessors() == 1;
    private static final long SPIN_NANOS = ONE_PROCESSOR ? 0 : TimeUnit.MICROSECONDS.toNanos(20);
    private static final long YIELD_NANOS = SPIN_NANOS + TimeUnit.MICROSECONDS.toNanos(60);

    /** Next step of a waiting thread. */
    enum Step {
        SPIN,
        YIELD,
        SLEEP
    }

    /** Returns the next step of a thread that has already waited for a time. */
    Step step(long waitedNanos) {
        return switch (this) {
            case SPIN -> Step.SPIN;
            case YIELD -> Step.YIELD;
            case ADAPTIVE -> waitedNanos < SPIN_NANOS ? Step.SPIN : waitedNanos < YIELD_NANOS ? Step.YIELD : Step.SLEEP;
            case SLEEP -> Step.SLEEP;
        };
    }
}
