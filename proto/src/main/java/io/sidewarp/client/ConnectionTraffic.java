// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The work of one connection on the queues of its session: how much was posted, which a graceful close is to come behind,
 * and how many completions were delivered, which the connection's events come behind. gRPC orders nothing across calls.
 * Thread-safe; events run on the event loop.
 */
final class ConnectionTraffic {

    /** Time that an event waits for completions: nobody may read the queue, or it ended with them. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long connection;
    private final Transport transport;
    private final AtomicLong posts = new AtomicLong();
    private final AtomicLong delivered = new AtomicLong();
    private final Runnable release = this::release;
    private volatile boolean holding;

    /** Used on the event loop only. */
    private final ArrayDeque<Held> held = new ArrayDeque<>();

    /** An event, and how many completions it comes behind. */
    private record Held(long completions, Runnable event) {}

    ConnectionTraffic(long connection, Transport transport) {
        this.connection = connection;
        this.transport = transport;
    }

    long connection() {
        return connection;
    }

    /** A work request was posted. */
    void posted() {
        posts.incrementAndGet();
    }

    /** A work request was posted on a queue that ended, and may not have come to the sidecar. */
    void lost() {
        posts.decrementAndGet();
    }

    /** Work requests that came to the sidecar, or are on their way. */
    long posts() {
        return posts.get();
    }

    /** A completion was delivered. */
    void delivered() {
        delivered.incrementAndGet();
        if (holding) {
            transport.onEventLoop(release);
        }
    }

    /** Runs an event behind so many completions and all earlier events, or a second later. */
    void runBehind(long completions, Runnable event) {
        transport.onEventLoop(() -> hold(completions, event));
    }

    private void hold(long completions, Runnable event) {
        Held added = new Held(completions, event);
        held.add(added);
        holding = true;
        release();
        if (held.contains(added)) {
            transport.schedule(() -> giveUp(added), PATIENCE_NANOS);
        }
    }

    /** Runs all events: no completions come any more. On the event loop. */
    void releaseAll() {
        delivered.set(Long.MAX_VALUE / 2);
        release();
    }

    private void giveUp(Held late) {
        if (held.contains(late)) {
            // A missing completion was lost, so later events do not wait for it too.
            delivered.accumulateAndGet(late.completions, Math::max);
            release();
        }
    }

    private void release() {
        while (!held.isEmpty() && delivered.get() >= held.getFirst().completions) {
            held.removeFirst().event.run();
        }
        holding = !held.isEmpty();
    }
}
