// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import io.sidewarp.service.session.SessionRegistry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jboss.logging.Logger;

/**
 * Ends all sessions within a time limit. Nothing new begins, and work in progress may finish. Then connections are
 * closed gracefully and sessions end. Work in progress is posted work requests, and data that peers still move. Data of
 * completed work may still be in flight: a graceful close waits until the peer has acknowledged it.
 *
 * <p>A drain that outlives sessions first keeps serving, including new calls, until all sessions have ended.
 */
final class SessionDrain {

    private static final Logger LOG = Logger.getLogger(SessionDrain.class);
    /** Connections without traffic for this time count as idle. */
    private static final Duration QUIET = Duration.ofMillis(250);
    /**
     * Minimum time for the graceful close, and again for the release of the remaining sessions, even beyond the drain
     * time.
     */
    private static final Duration LAST = Duration.ofSeconds(1);

    private final SessionRegistry sessions;
    private final long deadline;
    private final Duration grace;
    private final boolean outlivesSessions;

    SessionDrain(SessionRegistry sessions, Duration grace, boolean outlivesSessions) {
        this.sessions = sessions;
        this.grace = grace;
        this.outlivesSessions = outlivesSessions;
        this.deadline = System.nanoTime() + grace.toNanos();
    }

    /** Blocks until all sessions have ended. */
    void run() {
        try {
            if (outlivesSessions) {
                outliveSessions();
            }
            sessions.drain(outlivesSessions ? Duration.ofNanos(left()) : grace);
            boolean idle = awaitIdle();
            LOG.infof("event=drained idle=%b sessions=%d", idle, sessions.count());
            await("close", sessions.disconnectAll(), Math.max(LAST.toNanos(), left()));
            await("release", sessions.endAll(), LAST.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void outliveSessions() throws InterruptedException {
        LOG.infof("event=outliving sessions=%d", sessions.count());
        while (sessions.count() > 0 && left() > 0) {
            TimeUnit.NANOSECONDS.sleep(Math.min(left(), QUIET.toNanos()));
        }
    }

    private long left() {
        return Math.max(0, deadline - System.nanoTime());
    }

    private boolean awaitIdle() throws InterruptedException {
        long octets = -1;
        while (sessions.count() > 0) {
            long left = left();
            if (left == 0) {
                return false;
            }
            SessionRegistry.Activity activity;
            try {
                activity = sessions.activity().get(left, TimeUnit.NANOSECONDS);
            } catch (ExecutionException | TimeoutException e) {
                return false;
            }
            if (activity.work() == 0 && activity.octets() == octets) {
                return true;
            }
            octets = activity.octets();
            TimeUnit.NANOSECONDS.sleep(Math.min(left, QUIET.toNanos()));
        }
        return true;
    }

    private static void await(String what, CompletableFuture<Void> end, long nanos) throws InterruptedException {
        try {
            end.get(nanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            LOG.warnf("event=drain-incomplete step=%s reason=\"%s\"", what, e);
        }
    }
}
