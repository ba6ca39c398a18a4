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
 * Brings sessions to an end within a time: nothing new begins, what is under way may finish, then connections are closed
 * gracefully and sessions end. Under way are work requests that are posted, and whatever peers move meanwhile. Work that is
 * complete may still be on its way: a graceful close waits until the peer has acknowledged it.
 */
final class Drain {

    private static final Logger LOG = Logger.getLogger(Drain.class);
    /** So long nothing may move before connections count as idle. */
    private static final Duration QUIET = Duration.ofMillis(250);
    /** For the graceful close at least, and again for the release of what is left, also beyond the drain time. */
    private static final Duration LAST = Duration.ofSeconds(1);

    private final SessionRegistry sessions;
    private final long deadline;
    private final Duration grace;

    Drain(SessionRegistry sessions, Duration grace) {
        this.sessions = sessions;
        this.grace = grace;
        this.deadline = System.nanoTime() + grace.toNanos();
    }

    /** Blocks until everything has ended. */
    void run() {
        sessions.drain(grace);
        try {
            boolean idle = awaitIdle();
            LOG.infof("event=drained idle=%b sessions=%d", idle, sessions.count());
            await("close", sessions.disconnectAll(), Math.max(LAST.toNanos(), deadline - System.nanoTime()));
            await("release", sessions.endAll(), LAST.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitIdle() throws InterruptedException {
        long octets = -1;
        while (sessions.count() > 0) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
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
