// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.log;

import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;

/**
 * Rate-limited loggers for events that peers and callers can cause, shared by all sessions of a sidecar.
 *
 * @param terminated errors that ended connections
 * @param startup inbound connections that failed during start-up
 * @param denied inbound connections that the policy of a listener denied
 * @param withoutTls connections that begin without TLS because this side has no certificate yet
 * @param session sessions whose clients do not read their events
 * @param internal internal errors of the sidecar that a call met
 * @param suppressed number of messages that the rate limits suppressed
 */
public record PeerLogs(
        RateLimitedLogger terminated,
        RateLimitedLogger startup,
        RateLimitedLogger denied,
        RateLimitedLogger withoutTls,
        RateLimitedLogger session,
        RateLimitedLogger internal,
        AtomicLong suppressed) {

    private static final Logger LOG = Logger.getLogger("io.sidewarp.peer");

    public PeerLogs(int perMinute) {
        this(perMinute, new AtomicLong());
    }

    private PeerLogs(int perMinute, AtomicLong suppressed) {
        this(
                new RateLimitedLogger(LOG, "connection-terminated", perMinute, suppressed),
                new RateLimitedLogger(LOG, "startup-failed", perMinute, suppressed),
                new RateLimitedLogger(LOG, "connection-denied", perMinute, suppressed),
                new RateLimitedLogger(LOG, "connection-without-tls", 1, suppressed),
                new RateLimitedLogger(LOG, "session-event-lost", perMinute, suppressed),
                new RateLimitedLogger(LOG, "internal-error", perMinute, suppressed),
                suppressed);
    }
}
