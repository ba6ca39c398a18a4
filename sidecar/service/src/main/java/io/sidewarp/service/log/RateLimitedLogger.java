// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.log;

import io.sidewarp.common.LogText;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Logs events that peers and callers can cause, with a limit of messages per minute. Suppressed messages are counted,
 * and the first message of the next minute gives their number. Thread-safe.
 */
public final class RateLimitedLogger {

    private static final long WINDOW = TimeUnit.MINUTES.toNanos(1);

    private final Logger logger;
    private final String event;
    private final int perWindow;
    private final LongSupplier nanoTime;
    private final AtomicLong suppressedTotal;
    private long windowBegin;
    private int written;
    private long suppressed;

    /**
     * @param event kind of message, the value of {@code event=} in each
     * @param suppressedTotal counts the suppressed messages of all loggers
     */
    public RateLimitedLogger(Logger logger, String event, int perMinute, AtomicLong suppressedTotal) {
        this(logger, event, perMinute, suppressedTotal, System::nanoTime);
    }

    RateLimitedLogger(Logger logger, String event, int perMinute, AtomicLong suppressedTotal, LongSupplier nanoTime) {
        this.logger = logger;
        this.event = event;
        this.perWindow = perMinute;
        this.suppressedTotal = suppressedTotal;
        this.nanoTime = nanoTime;
        this.windowBegin = nanoTime.getAsLong();
    }

    /** Writes a warning, unless the limit is reached. */
    public void warn(Supplier<String> message) {
        log(Logger.Level.WARN, message, null);
    }

    /** Writes an error with its stack trace, unless the limit is reached. */
    public void error(Supplier<String> message, Throwable cause) {
        log(Logger.Level.ERROR, message, cause);
    }

    private void log(Logger.Level level, Supplier<String> message, @org.jspecify.annotations.Nullable Throwable cause) {
        long left = admit();
        if (left < 0) {
            return;
        }
        String note = left == 0 ? "" : " suppressed=" + left;
        logger.log(level, "event=" + event + " " + LogText.printable(message.get(), Integer.MAX_VALUE) + note, cause);
    }

    /** Returns -1 if the message must be suppressed, else the number of messages that were suppressed before it. */
    private synchronized long admit() {
        long now = nanoTime.getAsLong();
        if (now - windowBegin >= WINDOW) {
            windowBegin = now;
            written = 0;
        }
        if (written >= perWindow) {
            suppressed++;
            suppressedTotal.incrementAndGet();
            return -1;
        }
        written++;
        long before = suppressed;
        suppressed = 0;
        return before;
    }
}
