// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.provider.Listeners;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Completions in a ring. Any event loop adds entries; one thread at a time polls. Uses no locks. An entry is allocated
 * when its slot is used for the first time.
 */
final class SoftwareCompletionQueue implements CompletionQueue {

    private final int capacity;
    private final int mask;
    private final @Nullable Cqe[] entries;
    private final AtomicLongArray published;
    private final AtomicLong claimed = new AtomicLong();
    private final AtomicLong polled = new AtomicLong();
    private final AtomicReference<@Nullable Runnable> listener = new AtomicReference<>();
    private final AtomicInteger users = new AtomicInteger();
    private final Executor notifier;
    private volatile boolean solicitedOnly;
    private volatile boolean overrun;

    /** @param notifier runs a listener when completions are waiting already */
    SoftwareCompletionQueue(int capacity, Executor notifier) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a completion queue has at least 1 entry, not " + capacity);
        }
        this.capacity = capacity;
        int size = Integer.highestOneBit(capacity);
        size = size == capacity ? size : size << 1;
        this.mask = size - 1;
        this.entries = new Cqe[size];
        this.published = new AtomicLongArray(size);
        this.notifier = notifier;
    }

    /**
     * Claims a slot for one completion, to be filled and published. If the queue is full, marks it as overrun and
     * returns -1.
     */
    long claim() {
        while (true) {
            long sequence = claimed.get();
            if (sequence - polled.get() >= capacity) {
                overrun = true;
                return -1;
            }
            if (claimed.compareAndSet(sequence, sequence + 1)) {
                return sequence;
            }
        }
    }

    Cqe entry(long sequence) {
        int index = (int) sequence & mask;
        Cqe entry = entries[index];
        if (entry == null) {
            entry = new Cqe();
            entries[index] = entry;
        }
        return entry;
    }

    void publish(long sequence) {
        published.setRelease((int) sequence & mask, sequence + 1);
    }

    /** Calls a waiting listener, if it waits for a completion of this kind. */
    void signal(boolean solicitedOrFailed) {
        // This side publishes the entry and then reads the listener. The requester of a notification sets the listener
        // and then reads the entry. This order prevents a lost wake-up.
        VarHandle.fullFence();
        Runnable waiting = listener.get();
        if (waiting != null && (solicitedOrFailed || !solicitedOnly) && listener.compareAndSet(waiting, null)) {
            Listeners.tell(waiting);
        }
    }

    @Override
    public int poll(Cqe[] into) {
        long sequence = polled.get();
        int count = 0;
        while (count < into.length) {
            int index = (int) sequence & mask;
            if (published.getAcquire(index) != sequence + 1) {
                break;
            }
            Cqe entry = entries[index];
            if (entry != null) {
                into[count].set(entry);
            }
            count++;
            sequence++;
        }
        if (count > 0) {
            polled.set(sequence);
        }
        return count;
    }

    @Override
    public void requestNotification(Runnable newListener, boolean onlySolicited) {
        solicitedOnly = onlySolicited;
        listener.set(newListener);
        long sequence = polled.get();
        if (onlySolicited && claimed.get() != sequence) {
            // A claimed entry hides later entries until it is published. Their signal may be over already, so any
            // completion has to notify.
            solicitedOnly = false;
        }
        VarHandle.fullFence();
        boolean waiting = published.getAcquire((int) sequence & mask) == sequence + 1;
        if (waiting && listener.compareAndSet(newListener, null)) {
            notifier.execute(newListener);
        }
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public boolean isOverrun() {
        return overrun;
    }

    void retain() {
        users.incrementAndGet();
    }

    void release() {
        users.decrementAndGet();
    }

    @Override
    public void close() {
        if (users.get() > 0) {
            throw new IllegalStateException("queue pairs use this completion queue; close them first");
        }
        listener.set(null);
    }
}
