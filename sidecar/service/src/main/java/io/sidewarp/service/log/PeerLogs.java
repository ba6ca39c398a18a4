// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.log;

import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;

/** The loggers for what peers and callers can cause, shared by all sessions of a sidecar. */
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

    /** Errors that ended connections. */
    public RateLimitedLogger terminated() {
        return terminated;
    }

    /** Inbound connections that did not become connections. */
    public RateLimitedLogger startup() {
        return startup;
    }

    /** Sessions whose clients do not read their events. */
    public RateLimitedLogger session() {
        return session;
    }

    /** Failures of the sidecar itself that a call met. */
    public RateLimitedLogger internal() {
        return internal;
    }

    /** Messages that were left out. */
    public long suppressed() {
        return suppressed.get();
    }
}
