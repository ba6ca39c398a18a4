// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.client.RingCompletions.Submitted;
import io.sidewarp.ring.RingFaults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue over rings in shared memory. Posting copies the prepared blocks of a request into a ring, and wakes the
 * sidecar if it sleeps. Polling copies completions out of a ring. Neither allocates objects.
 *
 * <p>Each of the three rings has a lock. A lock is held only briefly, and never while a thread waits or runs code of
 * the application. A thread that takes several locks takes them in the order send ring, receive ring, completion ring.
 */
final class RingWorkQueue implements SessionQueue {

    private final GrpcSession session;
    private final Rings rings;
    private final RingSocket socket;
    private final WorkRing sends;
    private final WorkRing receives;
    private final RingCompletions completions;
    private final RingSlots slots = new RingSlots();
    private final RingPoster poster;
    private final RingPoller poller;
    private final RingQueueThread thread;
    private final Consumer<SidewarpException> sessionFailure = this::endWithSession;

    /** Number of completions of signaled requests that were handed out, or are kept for poll. */
    private final AtomicLong completed = new AtomicLong();

    // Reason for the end of the queue, or null. Written under the locks of all rings.

    private volatile @Nullable SidewarpException end;
    private volatile boolean closedHere;
    private volatile boolean complete;
    private volatile boolean draining;
    private volatile boolean drained;

    private enum End {
        CLOSED,
        DRAINED,
        HANDLER_FAILED,
        BY_SIDECAR,
        WITH_SESSION
    }

    private RingWorkQueue(GrpcSession session, Rings rings, WaitStrategy strategy) {
        this.session = session;
        this.rings = rings;
        socket = rings.socket();
        TrafficCache traffic = new TrafficCache(session.traffic());
        sends = new WorkRing(rings.sendRing().getId(), rings.sends(), slots, traffic);
        receives = new WorkRing(rings.receiveRing().getId(), rings.receives(), slots, traffic);
        completions = new RingCompletions(
                rings.completionRing().getId(), rings.completionRing().getEntries(), rings.consumer(), slots);
        poster = new RingPoster(this, sends, receives, socket, strategy);
        poller = new RingPoller(this, completions, socket, traffic, strategy);
        thread = new RingQueueThread(this, poller, slots);
    }

    /** Opens a queue; see {@link Rings#open} for the errors. */
    static RingWorkQueue open(GrpcSession session, QueueOptions options) {
        Transport.checkMayBlock();
        session.checkOpen();
        Rings rings = Rings.open(session, options.outstanding());
        RingWorkQueue queue = new RingWorkQueue(session, rings, options.waitStrategy());
        session.addQueue(queue);
        session.failAtEnd(queue.sessionFailure);
        SidewarpException cause = queue.end;
        if (cause != null) {
            throw cause.again();
        }
        return queue;
    }

    @Override
    public QueuePath path() {
        return QueuePath.RINGS;
    }

    @Override
    public int credits() {
        return completions.entries();
    }

    @Override
    public int available() {
        sends.lock();
        try {
            return end == null ? sends.freeBlocks() : 0;
        } finally {
            sends.unlock();
        }
    }

    @Override
    public void onCompletion(CompletionHandler handler) {
        thread.setHandler(handler);
        socket.stir();
    }

    @Override
    public boolean tryPost(long id, WorkRequest request) {
        return poster.tryPost(request, id, null);
    }

    @Override
    public void post(long id, WorkRequest request, Duration timeout) {
        poster.post(request, id, null, timeout);
    }

    @Override
    public void batch(Consumer<WorkQueue> posting) {
        boolean outermost = poster.beginBatch();
        try {
            posting.accept(this);
        } finally {
            if (outermost) {
                poster.endBatch();
            }
        }
    }

    @Override
    public CompletableFuture<WorkCompletion> submit(WorkRequest request) {
        if (request.isUnsignaled()) {
            throw new IllegalArgumentException("an unsignaled request has no completion for a future; use post");
        }
        CompletableFuture<WorkCompletion> future = new CompletableFuture<>();
        poster.post(request, 0, future, Durations.FOREVER);
        thread.wakeUp();
        return future;
    }

    @Override
    public Optional<WorkCompletion> poll(Duration timeout) {
        OneCompletion taker = new OneCompletion();
        poll(taker, 1, timeout);
        return Optional.ofNullable(taker.completion);
    }

    @Override
    public int poll(CompletionTaker taker, int limit, Duration timeout) {
        PolledCompletions.checkLimit(limit);
        if (thread.hasHandler()) {
            throw new IllegalStateException("the completions of this queue go to its handler");
        }
        return poller.poll(taker, limit, Durations.nanos(timeout));
    }

    @Override
    public boolean drain(Duration timeout) {
        checkMayWait();
        beginDrain();
        long nanos = Durations.nanos(timeout);
        long started = System.nanoTime();
        while (true) {
            long seen = socket.epoch();
            postMarkers();
            boolean more = !thread.hasHandler() && poller.collect(true);
            if (isComplete()) {
                end(Errors.queueDrained(), End.DRAINED);
            }
            SidewarpException cause = end;
            if (cause != null && !drained) {
                throw cause.again();
            }
            long left = nanos - (System.nanoTime() - started);
            if (cause != null || left <= 0) {
                return cause != null;
            }
            if (!more) {
                awaitProgress(seen, left);
            }
        }
    }

    @Override
    public void close() {
        end(Errors.queueClosed(), End.CLOSED);
    }

    @Override
    public void sendPosted() {
        poster.wakeSleepers();
    }

    @Override
    public void connectionClosed(long connection) {
        sends.lock();
        try {
            sends.connectionClosed(connection);
        } finally {
            sends.unlock();
        }
    }

    private void beginDrain() {
        sends.lock();
        receives.lock();
        try {
            draining = true;
        } finally {
            receives.unlock();
            sends.unlock();
        }
    }

    private void postMarkers() {
        boolean wake = false;
        sends.lock();
        try {
            if (end == null && sends.hasUnsignaled()) {
                sends.postMarkers();
                wake = sends.takeSleeper();
            }
        } finally {
            sends.unlock();
        }
        if (wake) {
            socket.wake(sends.ring());
        }
    }

    private boolean isComplete() {
        sends.lock();
        receives.lock();
        try {
            return !sends.hasUnsignaled() && sends.signaled() + receives.signaled() == completed.get();
        } finally {
            receives.unlock();
            sends.unlock();
        }
    }

    /** Waits for completions that this thread or other threads take. */
    private void awaitProgress(long seen, long left) {
        try {
            if (thread.hasHandler()) {
                socket.await(seen, left);
            } else {
                poller.sleep(seen, left, false);
            }
        } catch (InterruptedException e) {
            throw Errors.interrupted(e);
        }
        lookAround();
    }

    /** Counts completions of signaled requests that were handed out, or are kept for poll. */
    void completed(int signaled) {
        if (signaled > 0) {
            noteRefused();
            completed.addAndGet(signaled);
            if (draining) {
                socket.stir();
            }
        }
    }

    private void noteRefused() {
        if (!completions.hasRefused()) {
            return;
        }
        sends.lock();
        completions.lock();
        try {
            completions.takeRefused().forEach(sends::completedAhead);
        } finally {
            completions.unlock();
            sends.unlock();
        }
    }

    /** Returns the reason for the end of the queue, or null. */
    @Nullable
    SidewarpException end() {
        return end;
    }

    /** Returns the reason why the queue ended before its work was complete, or null. */
    @Nullable
    SidewarpException failure() {
        return complete ? null : end;
    }

    /** Returns whether the application, or its handler, ended the queue. */
    boolean isClosedHere() {
        return closedHere;
    }

    private void endWithSession(SidewarpException cause) {
        end(cause, End.WITH_SESSION);
    }

    void endBySidecar(SidewarpException cause) {
        end(cause, End.BY_SIDECAR);
    }

    void endHere(SidewarpException cause) {
        end(cause, End.HANDLER_FAILED);
    }

    /** Checks from time to time whether the sidecar has gone or has reported the end of a ring. */
    void lookAround() {
        socket.look();
        SidewarpException failure = socket.failure();
        if (failure != null) {
            endBySidecar(failure);
        }
    }

    /**
     * Checks that this thread may wait.
     *
     * @throws IllegalStateException on a thread that must not wait
     */
    void checkMayWait() {
        Transport.checkMayBlock();
        if (thread.isCurrent()) {
            throw RingErrors.onQueueThread();
        }
    }

    /**
     * Checks that the queue takes posts.
     *
     * @throws SidewarpException if the queue takes no posts any more
     */
    void checkUsable() {
        SidewarpException cause = end;
        if (cause != null) {
            throw cause.again();
        }
        if (draining) {
            throw Errors.queueDrained();
        }
    }

    private void end(SidewarpException cause, End reason) {
        List<Submitted> submitted = new ArrayList<>();
        List<CompletableFuture<WorkCompletion>> unfinished;
        sends.lock();
        receives.lock();
        completions.lock();
        try {
            if (end != null) {
                return;
            }
            takeAll(reason, submitted);
            unfinished = slots.outstandingFutures();
            long awaited = sends.signaled() + receives.signaled() - completed.get();
            complete = reason == End.DRAINED || reason == End.CLOSED && awaited == 0;
            closedHere = reason == End.CLOSED || reason == End.HANDLER_FAILED;
            drained = reason == End.DRAINED;
            end = cause;
            completions.end();
            rings.unmap();
        } finally {
            completions.unlock();
            receives.unlock();
            sends.unlock();
        }
        session.forget(sessionFailure);
        session.removeQueue(this);
        socket.close();
        submitted.forEach(poller::complete);
        unfinished.forEach(future -> future.completeExceptionally(cause));
        thread.end();
    }

    /** Takes all completions of the ring before the ring is unmapped. */
    private void takeAll(End reason, List<Submitted> submitted) {
        CompletionBatch batch = new CompletionBatch();
        try {
            do {
                completions.keep(batch, CompletionBatch.CAPACITY, submitted);
                RingFaults.raisePending();
                completed.addAndGet(batch.signaled());
            } while (batch.size() > 0);
            if (reason == End.BY_SIDECAR) {
                sends.losePosts();
                receives.losePosts();
            }
            RingFaults.raisePending();
        } catch (SidewarpException | InternalError e) {
            // A ring that is broken or was cut short has no more completions.
        }
    }

    /** Takes one completion. */
    private static final class OneCompletion implements CompletionTaker {

        private @Nullable WorkCompletion completion;

        @Override
        public void onCompletion(CompletionView view) {
            completion = view.toCompletion();
        }
    }
}
