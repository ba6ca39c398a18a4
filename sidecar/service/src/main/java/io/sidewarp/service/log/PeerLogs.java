// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.log;

import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;

/** Rate-limited loggers for events that peers and callers can cause, shared by all sessions of a sidecar. */
public final class PeerLogs {

    private static final Logger LOG = Logger.getLogger("io.sidewarp.peer");

    private final AtomicLong suppressed = new AtomicLong();
    private final RateLimitedLogger terminated;
    private final RateLimitedLogger startup;
    private final RateLimitedLogger session;
    private final RateLimitedLogger internal;

    public PeerLogs(int perMinute) {
        terminated = new RateLimitedLogger(LOG, "connection-terminated", perMinute, suppressed);
        startup = new RateLimitedLogger(LOG, "startup-failed", perMinute, suppressed);
        session = new RateLimitedLogger(LOG, "session-event-lost", perMinute, suppressed);
        internal = new RateLimitedLogger(LOG, "internal-error", perMinute, suppressed);
    }

    /** Returns the logger for errors that ended connections. */
    public RateLimitedLogger terminated() {
        return terminated;
    }

    /** Returns the logger for inbound connections that failed during start-up. */
    public RateLimitedLogger startup() {
        return startup;
    }

    /** Returns the logger for sessions whose clients do not read their events. */
    public RateLimitedLogger session() {
        return session;
    }

    /** Returns the logger for internal errors of the sidecar that a call met. */
    public RateLimitedLogger internal() {
        return internal;
    }

    /** Returns the number of messages that the rate limits suppressed. */
    public long suppressed() {
        return suppressed.get();
    }
}
