// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.INT;
import static io.sidewarp.provider.kernel.Native.LONG;

import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.provider.Listeners;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue of the device. Some completions wait in this object and are polled first: those found while
 * notification was requested, and those of queue pairs that have ended. Unsignaled work also occupies the device's
 * queue until it is polled.
 */
final class KernelCompletionQueue implements CompletionQueue, CompletionRoutes.Outlet {

    private static final int BATCH = 32;
    private static final Cqe[] NOTHING = {};

    private final KernelDevice device;
    private final int capacity;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment batch = arena.allocate((long) VerbsLayout.WC_LENGTH * BATCH, Long.BYTES);
    private final Queue<Cqe> waiting = new ArrayDeque<>();
    private final Cqe scratch = new Cqe();
    private final AtomicInteger users = new AtomicInteger();
    private final Lifetime lifetime = new Lifetime(this::destroy);
    private final long cq;
    private final long cookie;
    /** Destination of completions during a poll. */
    private Cqe[] target = NOTHING;

    private int filled;
    private @Nullable Runnable listener;
    private boolean closed;
    private volatile boolean overrun;

    /** @param cookie identifies this queue in the device's events */
    KernelCompletionQueue(KernelDevice device, int capacity, long cookie, long cq) {
        this.device = device;
        this.capacity = capacity;
        this.cookie = cookie;
        this.cq = cq;
    }

    long handle() {
        return cq;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public synchronized int poll(Cqe[] into) {
        int count = 0;
        while (count < into.length && !waiting.isEmpty()) {
            into[count++].set(waiting.remove());
        }
        target = into;
        filled = count;
        boolean more = true;
        while (more && filled < into.length) {
            more = pollDevice(Math.min(BATCH, into.length - filled));
        }
        target = NOTHING;
        return filled;
    }

    /**
     * Takes all completions from the device. The completions of a queue pair that ends are seen even if nobody polls.
     */
    synchronized void drain() {
        filled = 0;
        boolean more = true;
        while (more) {
            more = pollDevice(BATCH);
        }
        if (!waiting.isEmpty()) {
            signal();
        }
    }

    /** @return whether the device may have more */
    private boolean pollDevice(int limit) {
        int found = closed ? 0 : device.dataPath().poll(cq, limit, batch.address());
        for (int i = 0; i < found; i++) {
            long offset = (long) i * VerbsLayout.WC_LENGTH;
            boolean hasInvalidated =
                    (batch.get(INT, offset + VerbsLayout.WC_FLAGS) & VerbsLayout.WC_FLAG_WITH_INV) != 0;
            device.routes()
                    .complete(
                            batch.get(LONG, offset + VerbsLayout.WC_WR_ID),
                            batch.get(INT, offset + VerbsLayout.WC_QP_NUM),
                            KernelErrors.status(batch.get(INT, offset + VerbsLayout.WC_STATUS)),
                            Integer.toUnsignedLong(batch.get(INT, offset + VerbsLayout.WC_BYTE_LEN)),
                            hasInvalidated
                                    ? Integer.toUnsignedLong(batch.get(INT, offset + VerbsLayout.WC_INVALIDATED_RKEY))
                                    : DeviceWorkQueue.NOT_INVALIDATED,
                            this);
        }
        return found == limit;
    }

    @Override
    public Cqe scratch() {
        return scratch;
    }

    /** Gives the completion in {@link #scratch} to the caller that polls, or keeps it for the next poll. */
    @Override
    public void deliver() {
        if (filled < target.length) {
            target[filled++].set(scratch);
        } else {
            Cqe copy = new Cqe();
            copy.set(scratch);
            waiting.add(copy);
        }
    }

    /** Delivers the remaining completions of a work queue that has ended. */
    synchronized void deliverAll(DeviceWorkQueue work, long queuePair) {
        while (work.next(queuePair, scratch)) {
            deliver();
        }
        if (!waiting.isEmpty()) {
            signal();
        }
    }

    @Override
    public synchronized void requestNotification(Runnable newListener, boolean solicitedOnly) {
        listener = newListener;
        if (closed) {
            return;
        }
        int ignored = device.dataPath().requestNotification(cq, solicitedOnly);
        // The device notifies only of completions that arrive from now on.
        drain();
    }

    private void signal() {
        if (listener != null) {
            device.loop().execute(this::onEvent);
        }
    }

    /** Calls the listener once: the device, or this object, has completions. Runs on the loop. */
    void onEvent() {
        Runnable told;
        synchronized (this) {
            told = listener;
            listener = null;
        }
        if (told != null) {
            Listeners.tell(told);
        }
    }

    /** Records that the device had no room for a completion. Runs on the loop. */
    void onOverrun() {
        overrun = true;
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
        lifetime.retain();
    }

    /** Ends the use by an application's queue pair. The device may still use this queue for that queue pair. */
    void release() {
        users.decrementAndGet();
    }

    @Override
    public void close() {
        if (users.get() > 0) {
            throw new IllegalStateException("queue pairs use this completion queue; close them first");
        }
        synchronized (this) {
            listener = null;
        }
        lifetime.close();
    }

    private synchronized void destroy() {
        closed = true;
        device.onClosed(this, cookie);
        int ignored = VerbsCalls.destroyCq(cq);
        arena.close();
    }
}
