// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.rdmap.RdmapStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits the waits of a stream that ends. It waits for the peer's answer to a ready-to-receive Read before a graceful
 * close continues, and for the delivery of a Terminate. Belongs to the stream's event loop.
 */
final class StreamTimers {

    private final SoftwareSettings settings;
    private @Nullable ScheduledFuture<?> scheduled;

    StreamTimers(SoftwareSettings settings) {
        this.settings = settings;
    }

    /**
     * Starts the timer of a graceful close. The close continues without the answer to a ready-to-receive Read after
     * {@link NetSettings.Timeouts#linger}. It also continues when the work that waits for that
     * answer is done.
     */
    void beginClosing(EventLoop loop, @Nullable RdmapStream stream) {
        if (stream != null && stream.isReadyAnswerOwed()) {
            schedule(loop, settings.net().timeouts().linger(), () -> {
                stream.giveUpReadyAnswer();
                beginClosing(loop, stream);
            });
        }
    }

    /**
     * Starts the timer of a Terminate. Its delivery and the peer's close may take {@link
     * SoftwareSettings#terminateTimeout}.
     */
    void beginTerminate(EventLoop loop, Runnable abort) {
        schedule(loop, settings.terminateTimeout(), abort);
    }

    private void schedule(EventLoop loop, Duration delay, Runnable task) {
        cancel();
        scheduled = loop.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Stops the timer. */
    void cancel() {
        if (scheduled != null) {
            scheduled.cancel(false);
            scheduled = null;
        }
    }
}
