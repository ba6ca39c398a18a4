// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs a task of an event loop after a delay. May be started repeatedly. Belongs to the loop. */
public final class LoopTimer {

    private final EventLoop loop;
    private final Runnable task;
    private final Runnable expiry = this::onExpiry;
    private @Nullable ScheduledFuture<?> scheduled;

    public LoopTimer(EventLoop loop, Runnable task) {
        this.loop = loop;
        this.task = task;
    }

    /** Returns whether the timer was started, and neither expired nor was stopped. */
    public boolean isRunning() {
        return scheduled != null;
    }

    /** Starts the timer. Has no effect while the timer runs. */
    public void start(Duration delay) {
        start(delay.toNanos());
    }

    /** Starts the timer. Has no effect while the timer runs. */
    public void start(long nanos) {
        if (scheduled == null) {
            scheduled = loop.schedule(expiry, nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** Stops the timer. Otherwise the loop would keep the owner of the task until the timer expires. */
    public void stop() {
        if (scheduled != null) {
            scheduled.cancel(false);
            scheduled = null;
        }
    }

    private void onExpiry() {
        scheduled = null;
        task.run();
    }
}
