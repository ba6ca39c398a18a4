// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Send or receive queue: a ring of {@link Wqe} slots between any number of posting threads and one event loop. A poster
 * claims a slot, fills it and publishes it; the loop starts elements in order and retires them in order. No locks; a
 * slot is allocated when it is used for the first time.
 */
public final class WorkQueue {

    private static final VarHandle RETIRED;

    static {
        try {
            RETIRED = MethodHandles.lookup().findVarHandle(WorkQueue.class, "retired", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int capacity;
    private final int mask;
    private final @Nullable Wqe[] slots;
    /** Per slot: sequence of the element published last, plus 1. */
    private final AtomicLongArray published;

    private final AtomicLong claimed = new AtomicLong();

    @SuppressWarnings("unused") // through RETIRED
    private long retired;

    /** Next element to start; the event loop's own. */
    private long next;

    /** @param capacity elements that can be outstanding, at least 1 */
    public WorkQueue(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a work queue has at least 1 element, not " + capacity);
        }
        this.capacity = capacity;
        int size = Integer.highestOneBit(capacity);
        size = size == capacity ? size : size << 1;
        this.mask = size - 1;
        this.slots = new Wqe[size];
        this.published = new AtomicLongArray(size);
    }

    /** Elements that can be outstanding. */
    public int capacity() {
        return capacity;
    }

    /** Sequence of a slot for a new element, to be filled and published; -1 when the queue is full. */
    public long claim() {
        while (true) {
            long sequence = claimed.get();
            if (sequence - (long) RETIRED.getAcquire(this) >= capacity) {
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
        Wqe wqe = slots[index];
        if (wqe == null) {
            wqe = new Wqe();
            slots[index] = wqe;
        }
        return wqe;
    }

    /** Hands a filled slot to the event loop. */
    public void publish(long sequence) {
        published.setRelease((int) sequence & mask, sequence + 1);
    }

    /** Elements claimed and not retired. */
    public int outstanding() {
        return (int) (claimed.get() - (long) RETIRED.getAcquire(this));
    }

    private @Nullable Wqe at(long sequence) {
        int index = (int) sequence & mask;
        return published.getAcquire(index) == sequence + 1 ? slots[index] : null;
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
            consumer.accept(wqe);
            retire();
            wqe = oldest();
        }
    }

    /** Gives the oldest element's slot back to posters. */
    void retire() {
        long sequence = retired;
        Wqe wqe = slots[(int) sequence & mask];
        if (wqe != null) {
            wqe.clear();
        }
        if (next == sequence) {
            next = sequence + 1;
        }
        RETIRED.setRelease(this, sequence + 1);
    }
}
