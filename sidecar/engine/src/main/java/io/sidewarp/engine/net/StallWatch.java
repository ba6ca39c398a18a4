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
 * Sees to it that a peer which lets this side wait does not hold memory of it for ever: one that takes nothing, or never
 * sends the rest of an FPDU. Belongs to one loop.
 */
public final class StallWatch {

    /** The progress where nothing is waited for. */
    public static final long NOT_WAITING = -1;

    private final EventLoop loop;
    private final Duration timeout;
    private final LongSupplier progress;
    private final Runnable onStall;
    private final Runnable check = this::check;
    private @Nullable ScheduledFuture<?> scheduled;
    private long progressBefore;

    /**
     * @param timeout after which what made no progress has stalled
     * @param progress what the peer has taken or sent so far, or {@link #NOT_WAITING}
     */
    public StallWatch(EventLoop loop, Duration timeout, LongSupplier progress, Runnable onStall) {
        this.loop = loop;
        this.timeout = timeout;
        this.progress = progress;
        this.onStall = onStall;
    }

    /** The peer may be waited for from now on. Cheap to repeat. */
    public void begin() {
        if (scheduled == null) {
            progressBefore = progress.getAsLong();
            if (progressBefore != NOT_WAITING) {
                scheduled = loop.schedule(check, timeout.toNanos(), TimeUnit.NANOSECONDS);
            }
        }
    }

    /** Nobody is waited for any more. Without this the loop would keep what is watched until the time is over. */
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
