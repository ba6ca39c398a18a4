// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.client.RingCompletions.Submitted;
import io.sidewarp.ring.RingFaults;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Takes completions from the ring of a queue, hands them out without any lock, and waits for more. Thread-safe.
 * Allocates nothing for a successful completion, and nothing while waiting.
 */
final class RingPoller {

    /** Turns of a spinning thread between two reads of the clock. */
    private static final int SPIN_TURNS = 50;

    private static final long FULL_BACKLOG_MILLIS = 1;

    private final RingWorkQueue queue;
    private final RingCompletions completions;
    private final RingSocket socket;
    private final TrafficCache traffic;
    private final WaitStrategy strategy;

    /** A batch that no thread uses. */
    private final AtomicReference<@Nullable CompletionBatch> spare = new AtomicReference<>();

    RingPoller(
            RingWorkQueue queue,
            RingCompletions completions,
            RingSocket socket,
            TrafficCache traffic,
            WaitStrategy strategy) {
        this.queue = queue;
        this.completions = completions;
        this.socket = socket;
        this.traffic = traffic;
        this.strategy = strategy;
    }

    /**
     * Hands out completions, and waits for the first one.
     *
     * @return number of completions that were handed out
     * @throws SidewarpException if there is no completion and none will come
     */
    int poll(CompletionTaker taker, int limit, long nanos) {
        int told = takeOrFail(taker, limit);
        if (told > 0) {
            return told;
        }
        queue.lookAround();
        if (nanos <= 0) {
            return 0;
        }
        queue.checkMayWait();
        long started = System.nanoTime();
        while (told == 0) {
            long waited = System.nanoTime() - started;
            if (waited >= nanos) {
                return 0;
            }
            await(socket.epoch(), waited, nanos - waited, true);
            told = takeOrFail(taker, limit);
        }
        return told;
    }

    private int takeOrFail(CompletionTaker taker, int limit) {
        SidewarpException end = queue.end();
        int told = take(taker, limit);
        // The end moves the rest of the ring into the backlog before it sets `end`, so this look misses nothing.
        if (told == 0 && end != null) {
            throw end.again();
        }
        return told;
    }

    /** Hands out completions that have already arrived. */
    int take(CompletionTaker taker, int limit) {
        int told = 0;
        CompletionBatch batch = borrow();
        try {
            boolean more = true;
            while (more) {
                int wanted = Math.min(limit - told, CompletionBatch.CAPACITY);
                fill(batch, wanted);
                more = batch.size() == wanted && told + wanted < limit;
                told += handOut(batch, taker);
            }
        } finally {
            spare.set(batch);
        }
        return told;
    }

    private CompletionBatch borrow() {
        CompletionBatch batch = spare.getAndSet(null);
        return batch == null ? new CompletionBatch() : batch;
    }

    private void fill(CompletionBatch batch, int limit) {
        boolean wake = false;
        SidewarpException broken = null;
        completions.lock();
        try {
            wake = completions.take(batch, limit);
            RingFaults.raisePending();
        } catch (SidewarpException e) {
            broken = e;
        } catch (InternalError e) {
            broken = RingErrors.fileCutShort(e);
        } finally {
            completions.unlock();
        }
        if (wake) {
            socket.wake(completions.ring());
        }
        if (broken != null) {
            queue.endBySidecar(broken);
        }
    }

    private int handOut(CompletionBatch batch, CompletionTaker taker) {
        int told = 0;
        try {
            while (batch.hasNext()) {
                CompletionView view = batch.next();
                if (batch.isPosted()) {
                    told++;
                    tell(taker, view);
                } else {
                    complete(batch.takeFuture(), view);
                }
            }
        } finally {
            if (batch.hasNext()) {
                returnRest(batch);
            }
            queue.completed(batch.signaled());
        }
        return told;
    }

    private void tell(CompletionTaker taker, CompletionView view) {
        try {
            taker.onCompletion(view);
        } finally {
            delivered(view.connection());
        }
    }

    private void complete(@Nullable CompletableFuture<WorkCompletion> future, CompletionView view) {
        long connection = view.connection();
        if (future != null) {
            future.complete(view.toCompletion());
        }
        delivered(connection);
    }

    /** Returns the rest of a batch to the backlog after a failure of the taker, so that other pollers get it. */
    private void returnRest(CompletionBatch batch) {
        Deque<WorkCompletion> rest = new ArrayDeque<>();
        while (batch.hasNext()) {
            CompletionView view = batch.next();
            if (batch.isPosted()) {
                rest.addFirst(view.toCompletion());
            } else {
                complete(batch.takeFuture(), view);
            }
        }
        completions.lock();
        try {
            completions.returnToBacklog(rest);
        } finally {
            completions.unlock();
        }
        socket.stir();
    }

    /**
     * Completes futures, and moves other completions to the backlog of poll, as far as it has room.
     *
     * @param unlimited whether the backlog takes them without a limit
     * @return whether there was any completion
     */
    boolean collect(boolean unlimited) {
        List<Submitted> submitted = new ArrayList<>();
        CompletionBatch batch = borrow();
        int size;
        try {
            int signaled = keep(batch, unlimited, submitted);
            size = batch.size();
            submitted.forEach(this::complete);
            queue.completed(signaled);
        } finally {
            spare.set(batch);
        }
        return size > 0;
    }

    private int keep(CompletionBatch batch, boolean unlimited, List<Submitted> submitted) {
        boolean wake = false;
        SidewarpException broken = null;
        completions.lock();
        try {
            int room = unlimited ? CompletionBatch.CAPACITY : completions.backlogRoom();
            wake = completions.keep(batch, room, submitted);
            RingFaults.raisePending();
        } catch (SidewarpException e) {
            broken = e;
        } catch (InternalError e) {
            broken = RingErrors.fileCutShort(e);
        } finally {
            completions.unlock();
        }
        if (wake) {
            socket.wake(completions.ring());
        }
        if (broken != null) {
            queue.endBySidecar(broken);
        }
        return batch.signaled();
    }

    void complete(Submitted submitted) {
        CompletableFuture<WorkCompletion> future = submitted.future();
        if (future != null) {
            future.complete(submitted.completion());
        }
        delivered(submitted.completion().connection());
    }

    private void delivered(long connection) {
        if (connection != 0) {
            traffic.of(connection).delivered();
        }
    }

    /**
     * Waits a short time for completions, as the strategy says.
     *
     * @param seen epoch of the socket before the caller's last look
     * @param waited time waited so far
     * @param left maximum time to wait
     * @param backlogToo whether completions of the backlog count
     */
    @SuppressWarnings("ThreadPriorityCheck") // The application chose to yield.
    void await(long seen, long waited, long left, boolean backlogToo) {
        try {
            switch (strategy.step(waited)) {
                case SPIN -> {
                    for (int i = 0; i < SPIN_TURNS && !completions.seemsReady(backlogToo); i++) {
                        Thread.onSpinWait();
                    }
                }
                case YIELD -> Thread.yield();
                case SLEEP -> sleep(seen, left, backlogToo);
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
        queue.lookAround();
    }

    /**
     * Sleeps until the sidecar wakes this process.
     *
     * @param seen epoch of the socket before the caller's last look
     */
    void sleep(long seen, long left, boolean backlogToo) throws InterruptedException {
        boolean ready;
        completions.lock();
        try {
            ready = completions.fallAsleep(backlogToo);
        } finally {
            completions.unlock();
        }
        try {
            if (!ready) {
                socket.await(seen, left);
            }
        } finally {
            completions.lock();
            try {
                completions.wokeUp();
            } finally {
                completions.unlock();
            }
        }
    }

    long epoch() {
        return socket.epoch();
    }

    /** Waits a short time if the backlog is full, so that the application can take completions. */
    void awaitBacklogRoom() throws InterruptedException {
        completions.lock();
        try {
            if (completions.backlogRoom() > 0) {
                return;
            }
        } finally {
            completions.unlock();
        }
        TimeUnit.MILLISECONDS.sleep(FULL_BACKLOG_MILLIS);
    }
}
