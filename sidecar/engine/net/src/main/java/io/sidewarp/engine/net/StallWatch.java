// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Detects a peer that takes nothing, or never sends the rest of an FPDU, while this side waits. Such a peer must not
 * make this side hold memory for ever. Belongs to one loop.
 */
public final class StallWatch {

    /** Progress value when nobody waits. */
    public static final long NOT_WAITING = -1;

    private final Duration timeout;
    private final LongSupplier progress;
    private final Runnable onStall;
    private final LoopTimer check;
    private long progressBefore;

    /**
     * @param timeout time without progress that counts as a stall
     * @param progress returns what the peer has taken or sent so far, or {@link #NOT_WAITING}
     */
    public StallWatch(EventLoop loop, Duration timeout, LongSupplier progress, Runnable onStall) {
        this.timeout = timeout;
        this.progress = progress;
        this.onStall = onStall;
        this.check = new LoopTimer(loop, this::check);
    }

    /** Starts the watch if this side waits for the peer. Cheap to repeat. */
    public void begin() {
        if (!check.isRunning()) {
            progressBefore = progress.getAsLong();
            if (progressBefore != NOT_WAITING) {
                check.start(timeout);
            }
        }
    }

    /** Ends the watch. Otherwise the loop would keep the watched object until the timer expires. */
    public void end() {
        check.stop();
    }

    private void check() {
        long now = progress.getAsLong();
        if (now == NOT_WAITING) {
            return;
        }
        if (now == progressBefore) {
            onStall.run();
        } else {
            begin();
        }
    }
}
