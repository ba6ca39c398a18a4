// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.ring.RingFaults;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Posts requests to the work rings of a queue, and waits for room there. Thread-safe. Allocates nothing for a request.
 */
final class RingPoster {

    /** Turns of a spinning thread between two reads of the clock. */
    private static final int SPIN_TURNS = 50;

    private final RingWorkQueue queue;
    private final WorkRing sends;
    private final WorkRing receives;
    private final RingSocket socket;
    private final WaitStrategy strategy;

    /** Thread in a batch, whose posts do not check for a sleeping sidecar. */
    private final AtomicReference<@Nullable Thread> batching = new AtomicReference<>();

    RingPoster(RingWorkQueue queue, WorkRing sends, WorkRing receives, RingSocket socket, WaitStrategy strategy) {
        this.queue = queue;
        this.sends = sends;
        this.receives = receives;
        this.socket = socket;
        this.strategy = strategy;
    }

    /** Begins a batch of this thread. Returns false if another batch is already open. */
    boolean beginBatch() {
        return batching.compareAndSet(null, Thread.currentThread());
    }

    void endBatch() {
        batching.set(null);
        wakeSleepers();
    }

    /** Wakes the sidecar if it sleeps and a ring may have entries. */
    void wakeSleepers() {
        wakeSleeper(sends);
        wakeSleeper(receives);
    }

    /**
     * Posts without waiting.
     *
     * @param future future of a submitted request; null for a posted request
     * @return false if there is no room
     */
    boolean tryPost(WorkRequest request, long id, @Nullable CompletableFuture<WorkCompletion> future) {
        int blocks = request.image().blocks();
        WorkRing ring = request.isReceive() ? receives : sends;
        boolean posted;
        boolean wake;
        ring.lock();
        try {
            queue.checkUsable();
            posted = ring.hasRoom(blocks);
            if (posted) {
                ring.post(request, id, future);
            }
            wake = (!posted || !Thread.currentThread().equals(batching.get())) && ring.takeSleeper();
            RingFaults.raisePending();
        } catch (InternalError e) {
            posted = false;
            wake = false;
            socket.fail(RingErrors.fileCutShort(e));
        } finally {
            ring.unlock();
        }
        if (wake) {
            socket.wake(ring.ring());
        }
        if (!posted) {
            queue.lookAround();
        }
        return posted;
    }

    /** Posts when there is room, and waits for room no longer than the time-out. */
    void post(WorkRequest request, long id, @Nullable CompletableFuture<WorkCompletion> future, Duration timeout) {
        if (tryPost(request, id, future)) {
            return;
        }
        queue.checkMayWait();
        WorkRing ring = request.isReceive() ? receives : sends;
        int blocks = request.image().blocks();
        long nanos = Durations.nanos(timeout);
        long started = System.nanoTime();
        do {
            long waited = System.nanoTime() - started;
            if (waited >= nanos) {
                throw RingErrors.noRoom(ring.blocks(), blocks, timeout);
            }
            awaitRoom(ring, blocks, waited, nanos - waited);
        } while (!tryPost(request, id, future));
    }

    @SuppressWarnings("ThreadPriorityCheck") // The application chose to yield.
    private void awaitRoom(WorkRing ring, int blocks, long waited, long left) {
        try {
            switch (strategy.step(waited)) {
                case SPIN -> {
                    for (int i = 0; i < SPIN_TURNS && !ring.seemsToHaveRoom(blocks); i++) {
                        Thread.onSpinWait();
                    }
                }
                case YIELD -> Thread.yield();
                case SLEEP -> sleepUntilRoom(ring, blocks, left);
            }
            RingFaults.raisePending();
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        } catch (InterruptedException e) {
            throw Errors.interrupted(e);
        } catch (InternalError e) {
            queue.endBySidecar(RingErrors.fileCutShort(e));
        }
    }

    private void sleepUntilRoom(WorkRing ring, int blocks, long left) throws InterruptedException {
        long seen = socket.epoch();
        boolean room;
        ring.lock();
        try {
            room = queue.end() != null || ring.armForRoom(blocks);
        } finally {
            ring.unlock();
        }
        if (!room) {
            socket.await(seen, left);
        }
    }

    private void wakeSleeper(WorkRing ring) {
        boolean wake;
        ring.lock();
        try {
            wake = queue.end() == null && ring.takeSleeper();
            RingFaults.raisePending();
        } catch (InternalError e) {
            wake = false;
            socket.fail(RingErrors.fileCutShort(e));
        } finally {
            ring.unlock();
        }
        if (wake) {
            socket.wake(ring.ring());
        }
    }
}
