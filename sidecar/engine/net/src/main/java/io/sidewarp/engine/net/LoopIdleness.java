// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.util.concurrent.FastThreadLocal;

/**
 * Remembers when a loop last had nothing to do, as reported by {@link AdaptivePolling}. A loop that waits in another
 * way never counts as idle. Belongs to one loop.
 */
final class LoopIdleness {

    private static final FastThreadLocal<LoopIdleness> OF_LOOP = new FastThreadLocal<>() {
        @Override
        protected LoopIdleness initialValue() {
            return new LoopIdleness();
        }
    };

    private boolean ever;
    private long lastNanos;

    /** Returns the instance of the calling loop. */
    static LoopIdleness ofThisLoop() {
        return OF_LOOP.get();
    }

    /** Notes that the loop looked for work and found none. */
    void onIdle(long nanoTime) {
        ever = true;
        lastNanos = nanoTime;
    }

    /** Returns whether the loop had nothing to do at some time after the given time. */
    boolean isSince(long nanoTime) {
        return ever && lastNanos - nanoTime > 0;
    }
}
