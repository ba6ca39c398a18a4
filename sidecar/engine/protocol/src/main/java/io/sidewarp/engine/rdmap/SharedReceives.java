// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Receives that several streams share. A message of any stream takes the oldest receive when its first segment arrives.
 * Each stream keeps its own message sequence numbers (RFC 5041 section 4.3). Any number of threads post, and any number
 * of event loops take. Only {@link #post} uses a lock. An element is allocated at its first use.
 */
public final class SharedReceives {

    private final int capacity;
    private final WqeRing spare;
    private final WqeRing posted;
    private final AtomicInteger made = new AtomicInteger();
    /** Receives that were claimed and are not complete. */
    private final AtomicInteger outstanding = new AtomicInteger();

    private final AtomicReference<@Nullable Limit> limit = new AtomicReference<>();

    /** Listener that is called once fewer than {@code receives} receives are left. */
    private record Limit(int receives, Runnable listener) {}

    /** @param capacity receives that can be posted or in use at the same time, at least 1 */
    public SharedReceives(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a shared receive queue has at least 1 entry, not " + capacity);
        }
        this.capacity = capacity;
        this.spare = new WqeRing(capacity);
        this.posted = new WqeRing(capacity);
    }

    public int capacity() {
        return capacity;
    }

    /** Receives that wait for messages. */
    public int size() {
        return posted.size();
    }

    /**
     * Returns an element for a new receive, to be filled and published, or null when the queue is full. A completion
     * callback of a stream must not call this method: it would wait for an element that the callback still holds.
     */
    public @Nullable Wqe claim() {
        int count;
        do {
            count = outstanding.get();
            if (count == capacity) {
                return null;
            }
        } while (!outstanding.compareAndSet(count, count + 1));
        while (true) {
            Wqe wqe = spare.take();
            if (wqe != null) {
                return wqe;
            }
            count = made.get();
            if (count == capacity) {
                // The element of a completed receive is about to return.
                Thread.onSpinWait();
            } else if (made.compareAndSet(count, count + 1)) {
                return new Wqe();
            }
        }
    }

    /**
     * Claims an element, fills it and publishes it, one poster at a time. A posted receive is then available to
     * messages. A completion callback of a stream must not call this method, for the reason that {@link #claim} gives.
     *
     * @param fill action that gets the request and the element
     * @return false when the queue is full
     */
    public <T> boolean post(T request, BiConsumer<T, Wqe> fill) {
        synchronized (posted) {
            Wqe wqe = claim();
            if (wqe == null) {
                return false;
            }
            fill.accept(request, wqe);
            publish(wqe);
            return true;
        }
    }

    /** Makes a filled element available to messages. */
    public void publish(Wqe wqe) {
        posted.put(wqe);
    }

    /**
     * Sets a listener that is called once, on an event loop, when a message leaves fewer than {@code receives}
     * receives.
     */
    public void arm(int receives, Runnable listener) {
        limit.set(receives == 0 ? null : new Limit(receives, listener));
    }

    /** Takes the oldest receive for a message of the caller, or returns null when no receive is posted. */
    @Nullable
    Wqe take() {
        Wqe wqe = posted.take();
        Limit armed = limit.get();
        if (wqe != null && armed != null && posted.size() < armed.receives && limit.compareAndSet(armed, null)) {
            armed.listener.run();
        }
        return wqe;
    }

    /**
     * Frees the capacity of a taken receive before its completion is reported. Another receive may be posted from then
     * on.
     */
    void complete() {
        outstanding.decrementAndGet();
    }

    /** Returns the element of a receive after its completion was reported. */
    void release(Wqe wqe) {
        wqe.clear();
        spare.put(wqe);
    }
}
