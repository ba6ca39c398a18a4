// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.concurrent.TimeUnit;

/** How threads wait for the completions of a queue with rings, and for room in its rings. */
public enum WaitStrategy {
    /** Never gives the processor away. The shortest latency; costs a whole processor for each thread that waits. */
    SPIN,
    /**
     * Offers the processor to other threads in each turn. As fast as {@link #SPIN} where a processor is free; costs a whole
     * processor where nobody else wants it.
     */
    YIELD,
    /**
     * Spins for 20 microseconds, offers the processor to others for 60 more, and then sleeps. Fast while completions follow each
     * other closely, and without cost when they do not. The default.
     */
    ADAPTIVE,
    /** Sleeps at once. Costs least processor time, and a wake-up by the kernel, some ten microseconds, for each wait. */
    SLEEP;

    private static final boolean ONE_PROCESSOR = Runtime.getRuntime().availableProcessors() == 1;
    private static final long SPIN_NANOS = ONE_PROCESSOR ? 0 : TimeUnit.MICROSECONDS.toNanos(20);
    private static final long YIELD_NANOS = SPIN_NANOS + TimeUnit.MICROSECONDS.toNanos(60);

    /** The next step of a thread that waits. */
    enum Step {
        SPIN,
        YIELD,
        SLEEP
    }

    /** Returns what a thread does that has waited so long. */
    Step step(long waitedNanos) {
        return switch (this) {
            case SPIN -> Step.SPIN;
            case YIELD -> Step.YIELD;
            case ADAPTIVE -> waitedNanos < SPIN_NANOS ? Step.SPIN : waitedNanos < YIELD_NANOS ? Step.YIELD : Step.SLEEP;
            case SLEEP -> Step.SLEEP;
        };
    }
}
