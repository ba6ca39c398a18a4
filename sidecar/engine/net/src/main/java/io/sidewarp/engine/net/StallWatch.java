// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Detects a peer that takes nothing, or never sends the rest of an FPDU, while this side waits. Such a peer must not
 * make this side hold memory for ever. Belongs to one loop.
 */
public final class StallWatch {

    /** Progress value when nobody waits. */
    public static final long NOT_WAITING = -1;

    private final EventLoop loop;
    private final Duration timeout;
    private final LongSupplier progress;
    private final Runnable onStall;
    private final Runnable check = this::check;
    private @Nullable ScheduledFuture<?> scheduled;
    private long progressBefore;

    /**
     * @param timeout time without progress that counts as a stall
     * @param progress returns what the peer has taken or sent so far, or {@link #NOT_WAITING}
     */
    public StallWatch(EventLoop loop, Duration timeout, LongSupplier progress, Runnable onStall) {
        this.loop = loop;
        this.timeout = timeout;
        this.progress = progress;
        this.onStall = onStall;
    }

    /** Starts the watch if this side waits for the peer. Cheap to repeat. */
    public void begin() {
        if (scheduled == null) {
            progressBefore = progress.getAsLong();
            if (progressBefore != NOT_WAITING) {
                scheduled = loop.schedule(check, timeout.toNanos(), TimeUnit.NANOSECONDS);
            }
        }
    }

    /** Ends the watch. Otherwise the loop would keep the watched object until the timer expires. */
    public void end() {
        if (scheduled != null) {
            scheduled.cancel(false);
            scheduled = null;
        }
    }

    private void check() {
        scheduled = null;
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
