// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts of one connection's work on the queues of its session. Thread-safe; events run on the event loop.
 *
 * <p>gRPC does not order messages of different calls. A graceful close must come after all posted requests, and an
 * event of the connection after the completions before it.
 */
final class ConnectionTraffic {

    /**
     * Maximum time that an event waits for completions. Nobody may read the queue, or the completions may be lost with
     * the queue.
     */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long connection;
    private final Transport transport;
    private final AtomicLong posts = new AtomicLong();
    private final AtomicLong delivered = new AtomicLong();
    private final Runnable release = this::release;
    private volatile boolean holding;

    /** Used on the event loop only. */
    private final ArrayDeque<Held> held = new ArrayDeque<>();

    /** An event, and the number of completions that must come before it. */
    private record Held(long completions, Runnable event) {}

    ConnectionTraffic(long connection, Transport transport) {
        this.connection = connection;
        this.transport = transport;
    }

    long connection() {
        return connection;
    }

    /** Counts a posted work request. */
    void posted() {
        posts.incrementAndGet();
    }

    /** Takes back a work request of a queue that ended, because the request may not have reached the sidecar. */
    void lost() {
        posts.decrementAndGet();
    }

    /** Returns the number of work requests that reached the sidecar or are on their way. */
    long posts() {
        return posts.get();
    }

    /** Counts a delivered completion. */
    void delivered() {
        delivered.incrementAndGet();
        if (holding) {
            transport.onEventLoop(release);
        }
    }

    /** Runs an event after a number of completions and all earlier events, or after a second. */
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

    /** Runs all events, because no more completions come. Runs on the event loop. */
    void releaseAll() {
        delivered.set(Long.MAX_VALUE / 2);
        release();
    }

    private void giveUp(Held late) {
        if (held.contains(late)) {
            // The missing completions are lost, so later events must not wait for them either.
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
