// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Send or receive queue: a ring of {@link Wqe} slots between any number of posting threads and one event loop. A poster
 * claims a slot, fills it and publishes it. The loop starts elements in order, and completes and retires them in order.
 * A completed element no longer counts against the capacity while its completion is still being read. The ring
 * therefore has at least one slot more than the capacity. Only {@link #post} uses a lock. An element is allocated at
 * its first use and recycled in turn.
 */
public final class WqeQueue {

    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(WqeQueue.class, "completed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int capacity;
    private final int mask;
    private final AtomicReferenceArray<@Nullable Wqe> slots;
    private final AtomicLong claimed = new AtomicLong();

    @SuppressWarnings("unused") // through COMPLETED
    private long completed;

    // Only the event loop uses these fields.
    private long retired;
    private long next;

    /** @param capacity elements that can be outstanding, at least 1 */
    public WqeQueue(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a work queue has at least 1 element, not " + capacity);
        }
        this.capacity = capacity;
        int size = Integer.highestOneBit(capacity) << 1;
        this.mask = size - 1;
        this.slots = new AtomicReferenceArray<>(size);
    }

    /** Elements that can be outstanding. */
    public int capacity() {
        return capacity;
    }

    /**
     * Claims the sequence of a slot for a new element, to be filled and published. Returns -1 when the queue is full.
     */
    public long claim() {
        while (true) {
            long sequence = claimed.get();
            if (sequence - (long) COMPLETED.getAcquire(this) >= capacity) {
                return -1;
            }
            if (claimed.compareAndSet(sequence, sequence + 1)) {
                return sequence;
            }
        }
    }

    /** Returns the slot of a claimed sequence. */
    public Wqe slot(long sequence) {
        int index = (int) sequence & mask;
        Wqe wqe = slots.getPlain(index);
        if (wqe == null) {
            wqe = new Wqe();
            slots.setRelease(index, wqe);
        }
        return wqe;
    }

    /** Hands a filled slot to the event loop. */
    public void publish(long sequence) {
        slot(sequence).publish(sequence);
    }

    /**
     * Claims a slot, fills it and publishes it, one poster at a time. When the method returns, the element and all
     * earlier elements are visible. A peer may therefore use the element at once, for example a receive.
     *
     * @param fill action that gets the request and the slot
     * @return false when the queue is full
     */
    public <T> boolean post(T request, BiConsumer<T, Wqe> fill) {
        synchronized (slots) {
            long sequence = claim();
            if (sequence < 0) {
                return false;
            }
            fill.accept(request, slot(sequence));
            publish(sequence);
            return true;
        }
    }

    /** Elements that were claimed and are not complete. */
    public int outstanding() {
        return (int) (claimed.get() - (long) COMPLETED.getAcquire(this));
    }

    private @Nullable Wqe at(long sequence) {
        Wqe wqe = slots.getAcquire((int) sequence & mask);
        return wqe != null && wqe.isPublished(sequence) ? wqe : null;
    }

    /** Returns the next element to start, or null. Only the event loop may call this and all methods below. */
    @Nullable
    Wqe peekNext() {
        return at(next);
    }

    /** Moves past the element that {@link #peekNext()} returned, after that element was started. */
    void advance() {
        next++;
    }

    /** Returns the oldest element that is not retired, or null. */
    @Nullable
    Wqe oldest() {
        return at(retired);
    }

    /** Returns the element at a distance from the oldest element, or null. */
    @Nullable
    Wqe peek(int distance) {
        return at(retired + distance);
    }

    /** Hands over and retires all remaining elements, in order. For queues whose stream never began. */
    public void drain(Consumer<Wqe> consumer) {
        Wqe wqe = oldest();
        while (wqe != null) {
            complete();
            consumer.accept(wqe);
            retire();
            wqe = oldest();
        }
    }

    /**
     * Frees the capacity of the oldest element before its completion is reported, so that the consumer may post
     * another.
     */
    void complete() {
        COMPLETED.setRelease(this, retired + 1);
    }

    /** Retires the oldest element after its completion was reported, or without a report for unsignaled work. */
    void retire() {
        int place = (int) retired & mask;
        Wqe wqe = slots.getPlain(place);
        if (wqe != null) {
            wqe.clear();
            // Recycles the element to the first slot that nobody can claim before another element completes. The ring
            // has up to twice as many slots as the capacity.
            slots.setPlain(place, null);
            slots.setPlain((int) (retired + capacity + 1) & mask, wqe);
        }
        if (next == retired) {
            next++;
        }
        complete();
        retired++;
    }
}
