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
 * claims a slot, fills it and publishes it; the loop starts elements in order, and completes and retires each in order. An
 * element that is complete counts no more while it is still read, for which there is one more than the queue holds. No
 * locks, but in {@link #post}; an element is allocated when it is used for the first time, and used again when as many others
 * as there are have been.
 */
public final class WorkQueue {

    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(WorkQueue.class, "completed", long.class);
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

    // The event loop's own.
    private long retired;
    private long next;

    /** @param capacity elements that can be outstanding, at least 1 */
    public WorkQueue(int capacity) {
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

    /** Sequence of a slot for a new element, to be filled and published; -1 when the queue is full. */
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

    /** The slot of a claimed sequence. */
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
     * Claims a slot, fills and publishes it, one poster at a time: what was posted is there, with all before it. So a peer may
     * use it at once, as it may a receive.
     *
     * @param fill gets the request and the slot
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

    /** Elements claimed and not complete. */
    public int outstanding() {
        return (int) (claimed.get() - (long) COMPLETED.getAcquire(this));
    }

    private @Nullable Wqe at(long sequence) {
        Wqe wqe = slots.getAcquire((int) sequence & mask);
        return wqe != null && wqe.isPublished(sequence) ? wqe : null;
    }

    /** The next element to start, or null. Event loop only, as all that follows. */
    @Nullable
    Wqe peekNext() {
        return at(next);
    }

    /** The element returned by {@link #peekNext()} has been started. */
    void advance() {
        next++;
    }

    /** The oldest element that has not retired, or null when there is none. */
    @Nullable
    Wqe oldest() {
        return at(retired);
    }

    /** The element at a distance from the oldest, or null. */
    @Nullable
    Wqe peek(int distance) {
        return at(retired + distance);
    }

    /** Hands over and retires everything that is left, in order. For queues whose stream never began. */
    public void drain(Consumer<Wqe> consumer) {
        Wqe wqe = oldest();
        while (wqe != null) {
            complete();
            consumer.accept(wqe);
            retire();
            wqe = oldest();
        }
    }

    /** The oldest element is about to be told to be complete: whoever hears of it may post another. */
    void complete() {
        COMPLETED.setRelease(this, retired + 1);
    }

    /** The oldest element was told to be complete, if anybody was to hear of it. */
    void retire() {
        int place = (int) retired & mask;
        Wqe wqe = slots.getPlain(place);
        if (wqe != null) {
            wqe.clear();
            // To the first place that nobody can claim before another element is complete: the ring has up to twice as
            // many as the queue holds.
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
