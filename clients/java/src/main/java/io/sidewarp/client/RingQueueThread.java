// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * The thread of a queue with rings. It calls the handler, and completes futures if the application does not poll. It
 * starts with the first handler or future.
 */
final class RingQueueThread implements Runnable {

    private static final System.Logger LOG = System.getLogger(RingQueueThread.class.getName());

    private final RingWorkQueue queue;
    private final RingPoller poller;
    private final RingSlots slots;
    private final CompletionTaker toHandler = this::handle;

    // Guarded by this.

    private @Nullable Thread thread;
    private boolean ended;

    private volatile @Nullable CompletionHandler handler;

    /** Used by the thread only. */
    private long idleSince = System.nanoTime();

    RingQueueThread(RingWorkQueue queue, RingPoller poller, RingSlots slots) {
        this.queue = queue;
        this.poller = poller;
        this.slots = slots;
    }

    /**
     * Sets the handler.
     *
     * @throws IllegalStateException if there is a handler already
     */
    synchronized void setHandler(CompletionHandler newHandler) {
        if (handler != null) {
            throw new IllegalStateException("the queue has a completion handler already");
        }
        handler = newHandler;
        wakeUp();
    }

    boolean hasHandler() {
        return handler != null;
    }

    synchronized boolean isCurrent() {
        return Thread.currentThread().equals(thread);
    }

    /** Starts or wakes the thread, because there are futures to complete. */
    synchronized void wakeUp() {
        if (thread == null && !ended) {
            thread = Thread.ofPlatform().daemon().name("sidewarp-queue").start(this);
        } else {
            notifyAll();
        }
    }

    /** Ends the thread after the end of the queue. The thread first tells the handler. */
    synchronized void end() {
        ended = true;
        notifyAll();
    }

    @Override
    public void run() {
        try {
            serve();
        } catch (InterruptedException | SidewarpException e) {
            LOG.log(Level.WARNING, "the thread of a queue was interrupted; the queue ends", e);
            queue.endHere(RingErrors.ended());
        }
        SidewarpException cause = queue.failure();
        if (cause != null) {
            SessionQueue.tellFailure(handler, cause);
        }
    }

    private void serve() throws InterruptedException {
        while (hasWork()) {
            long seen = poller.epoch();
            boolean handling = handler != null;
            // Read first: completions up to the end of the queue are handed out before the handler is told of the end.
            boolean last = queue.end() != null;
            if (handling ? poller.take(toHandler, CompletionBatch.CAPACITY) > 0 : poller.collect(false)) {
                idleSince = System.nanoTime();
            } else if (last) {
                return;
            } else {
                if (!handling) {
                    poller.awaitBacklogRoom();
                }
                poller.await(seen, System.nanoTime() - idleSince, Long.MAX_VALUE, handling);
            }
        }
    }

    /** Waits for a handler or a future. Returns false if the queue was closed and no completion must be handed out. */
    private synchronized boolean hasWork() throws InterruptedException {
        while (!ended && handler == null && slots.futureCount() == 0) {
            wait();
            idleSince = System.nanoTime();
        }
        return !(ended && (handler == null || queue.isClosedHere()));
    }

    private void handle(CompletionView view) {
        CompletionHandler taker = handler;
        if (taker == null || queue.isClosedHere()) {
            return;
        }
        try {
            taker.onCompletion(view.toCompletion());
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "a completion handler failed; its queue ends", e);
            queue.endHere(Errors.handlerFailed(e));
        }
    }
}
