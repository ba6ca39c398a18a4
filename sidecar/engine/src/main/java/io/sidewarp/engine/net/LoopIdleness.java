// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.util.concurrent.FastThreadLocal;

/**
 * When a loop had nothing to do, as {@link AdaptivePolling} tells: never, of a loop that waits in another way. Belongs to one
 * loop.
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

    /** Of the loop that calls. */
    static LoopIdleness ofThisLoop() {
        return OF_LOOP.get();
    }

    /** The loop looked for work and found none. */
    void onIdle(long nanoTime) {
        ever = true;
        lastNanos = nanoTime;
    }

    /** Whether it had nothing to do at some time behind that one. */
    boolean isSince(long nanoTime) {
        return ever && lastNanos - nanoTime > 0;
    }
}
