// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Receives that several streams share: a message takes the oldest one when its first segment arrives, on whichever
 * stream that is. The sequence numbers of messages stay each stream's own (RFC 5041 section 4.3). Any number of threads
 * post, any number of event loops take. No locks, but in {@link #post}; an element is allocated when it is used for the
 * first time.
 */
public final class SharedReceives {

    private final int capacity;
    private final WqeRing spare;
    private final WqeRing posted;
    private final AtomicInteger made = new AtomicInteger();
    /** Receives that were claimed and are not complete. */
    private final AtomicInteger outstanding = new AtomicInteger();

    private final AtomicReference<@Nullable Limit> limit = new AtomicReference<>();

    /** What is told once fewer receives are left than a number. */
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
     * An element for a new receive, to be filled and published; null when the queue is full. Not to be called by who
     * takes completions as the streams tell them.
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
                // The element of a receive that is complete is on its way back.
                Thread.onSpinWait();
            } else if (made.compareAndSet(count, count + 1)) {
                return new Wqe();
            }
        }
    }

    /**
     * Claims an element, fills and publishes it, one poster at a time: a receive that was posted is there for a message. Not to
     * be called by who takes completions as the streams tell them.
     *
     * @param fill gets the request and the element
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

    /** Calls the listener once, on an event loop, when fewer receives than a number are left after a message took one. */
    public void arm(int receives, Runnable listener) {
        limit.set(receives == 0 ? null : new Limit(receives, listener));
    }

    /** The oldest receive, which belongs to the caller's message then; null when there is none. */
    @Nullable
    Wqe take() {
        Wqe wqe = posted.take();
        Limit armed = limit.get();
        if (wqe != null && armed != null && posted.size() < armed.receives && limit.compareAndSet(armed, null)) {
            armed.listener.run();
        }
        return wqe;
    }

    /** A receive that was taken is about to be told to be complete: there is room for another from now on. */
    void complete() {
        outstanding.decrementAndGet();
    }

    /** Gives back the element of a receive that was told to be complete. */
    void release(Wqe wqe) {
        wqe.clear();
        spare.put(wqe);
    }
}
