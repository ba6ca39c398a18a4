// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.grpc.Metadata;
import io.grpc.Status;
import io.sidewarp.v1.QueueOpen;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.QueueResponse;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue over the Queue call.
 *
 * <p>Posting adds a request to the waiting requests, under the lock, and wakes the event loop unless it is already
 * awake. The event loop sends the requests in messages when the call takes them. All requests that were posted by then
 * travel together. Requests that a handler posts are sent after all completions of a response have been handed out.
 */
final class GrpcWorkQueue implements SessionQueue {

    private static final System.Logger LOG = System.getLogger(GrpcWorkQueue.class.getName());

    private final GrpcSession session;
    private final Transport transport;
    private final QueueCall call = new QueueCall(this::flush, this::onResponse, this::onEnd);
    private final CompletableFuture<Integer> opened = new CompletableFuture<>();
    private final Consumer<SidewarpException> failure;
    private final CompletionRouter router;
    private final Consumer<WorkCompletion> toHandler = this::handle;
    private final AtomicBoolean handled = new AtomicBoolean();
    private final AtomicReference<@Nullable Thread> batching = new AtomicReference<>();

    private final ReentrantLock lock = new ReentrantLock();

    /**
     * Condition of receives that wait for a credit. They wait separately, because the last credit may be free only for
     * other work.
     */
    private final Condition freedForReceives = lock.newCondition();

    private final Condition freedForOthers = lock.newCondition();
    private final Condition arrived = lock.newCondition();
    private final Condition ended = lock.newCondition();

    // The fields below are guarded by the lock.

    private final PostedWork posted = new PostedWork();

    /** True while the event loop is about to send, or waits until the call takes more. */
    private boolean flushing;

    /** True if posted requests must be sent now. A batch holds them back until its end. */
    private boolean wanted;

    private boolean draining;
    private boolean drained;
    private @Nullable SidewarpException end;

    private GrpcWorkQueue(GrpcSession session) {
        this.session = session;
        router = new CompletionRouter(opened::complete, session.traffic());
        transport = session.client().transport();
        failure = cause -> transport.onEventLoop(() -> end(cause, false));
    }

    /** Opens a queue, and returns when the sidecar has granted credits. */
    static GrpcWorkQueue open(GrpcSession session, int outstanding) {
        Transport.checkMayBlock();
        session.checkOpen();
        GrpcWorkQueue queue = new GrpcWorkQueue(session);
        QueueOpen open = QueueOpen.newBuilder()
                .setSession(session.id())
                .setOutstanding(outstanding)
                .build();
        session.addQueue(queue);
        queue.transport.onEventLoop(() -> queue.start(open));
        session.failAtEnd(queue.failure);
        try {
            Creation.await(session.client(), queue.opened, "open a queue");
        } catch (RuntimeException e) {
            queue.close();
            throw e;
        }
        return queue;
    }

    @Override
    public QueuePath path() {
        return QueuePath.GRPC;
    }

    @Override
    public int credits() {
        return opened.join();
    }

    @Override
    public int available() {
        lock.lock();
        try {
            return router.available();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onCompletion(CompletionHandler newHandler) {
        if (handled.getAndSet(true)) {
            throw new IllegalStateException("the queue has a completion handler already");
        }
        transport.onEventLoop(() -> handOver(newHandler));
    }

    @Override
    public boolean tryPost(long id, WorkRequest request) {
        boolean wake;
        lock.lock();
        try {
            checkUsable();
            if (!router.hasCreditFor(request)) {
                return false;
            }
            add(request, id, null);
            wake = wantsFlush();
        } finally {
            lock.unlock();
        }
        if (wake) {
            transport.onEventLoop(this::flush);
        }
        return true;
    }

    @Override
    public void post(long id, WorkRequest request, Duration timeout) {
        post(request, id, null, timeout);
    }

    @Override
    public void batch(Consumer<WorkQueue> posting) {
        boolean outermost = batching.compareAndSet(null, Thread.currentThread());
        try {
            posting.accept(this);
        } finally {
            if (outermost) {
                endBatch();
            }
        }
    }

    @Override
    public CompletableFuture<WorkCompletion> submit(WorkRequest request) {
        if (request.isUnsignaled()) {
            throw new IllegalArgumentException("an unsignaled request has no completion for a future; use post");
        }
        CompletableFuture<WorkCompletion> future = new CompletableFuture<>();
        post(request, 0, future, Durations.FOREVER);
        return future;
    }

    @Override
    public Optional<WorkCompletion> poll(Duration timeout) {
        lock.lock();
        try {
            if (handled.get()) {
                throw new IllegalStateException("the completions of this queue go to its handler");
            }
            long left = Durations.nanos(timeout);
            while (!router.hasBacklog()) {
                checkNotEnded();
                if (left <= 0) {
                    return Optional.empty();
                }
                Transport.checkMayBlock();
                left = arrived.awaitNanos(left);
            }
            WorkCompletion first = router.takeFromBacklog();
            router.delivered(first);
            freedForReceives.signal();
            freedForOthers.signal();
            return Optional.of(first);
        } catch (InterruptedException e) {
            throw Errors.interrupted(e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean drain(Duration timeout) {
        Transport.checkMayBlock();
        transport.onEventLoop(this::beginDrain);
        lock.lock();
        try {
            long left = Durations.nanos(timeout);
            while (end == null) {
                if (left <= 0) {
                    return false;
                }
                left = ended.awaitNanos(left);
            }
            if (!drained) {
                checkNotEnded();
            }
            return true;
        } catch (InterruptedException e) {
            throw Errors.interrupted(e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        transport.onEventLoop(() -> end(Errors.queueClosed(), true));
    }

    private void post(
            WorkRequest request, long id, @Nullable CompletableFuture<WorkCompletion> future, Duration timeout) {
        boolean wake;
        lock.lock();
        try {
            checkUsable();
            long left = Durations.nanos(timeout);
            while (!router.hasCreditFor(request)) {
                Transport.checkMayBlock();
                // A batch of this thread would otherwise wait for completions of requests that it holds back itself.
                wanted = true;
                if (!posted.isEmpty() && !flushing) {
                    flushing = true;
                    transport.onEventLoop(this::flush);
                }
                if (left <= 0) {
                    throw Errors.noCredit(router.table().credits(), router.available() > 0, timeout);
                }
                left = (request.isReceive() ? freedForReceives : freedForOthers).awaitNanos(left);
                checkUsable();
            }
            add(request, id, future);
            wake = wantsFlush();
        } catch (InterruptedException e) {
            throw Errors.interrupted(e);
        } finally {
            lock.unlock();
        }
        if (wake) {
            transport.onEventLoop(this::flush);
        }
    }

    /** Encodes a request. Needs the lock and a free credit. */
    private void add(WorkRequest request, long id, @Nullable CompletableFuture<WorkCompletion> future) {
        CreditTable table = router.table();
        int place = table.take(request, id, future);
        router.posted(request.connection());
        posted.add(request.toProto(place, table.isSignaled(place)));
    }

    /** Wakes all threads that wait for a credit. Needs the lock. */
    private void wakePosters() {
        freedForReceives.signalAll();
        freedForOthers.signalAll();
    }

    /** Returns whether the caller, who holds the lock, must start a flush after releasing it. */
    private boolean wantsFlush() {
        if (Thread.currentThread().equals(batching.get()) && !posted.fillsMessage()) {
            return false;
        }
        wanted = true;
        boolean idle = !flushing;
        flushing = true;
        return idle;
    }

    private void endBatch() {
        batching.set(null);
        boolean wake;
        lock.lock();
        try {
            wake = !posted.isEmpty() && wantsFlush();
        } finally {
            lock.unlock();
        }
        if (wake) {
            transport.onEventLoop(this::flush);
        }
    }

    /** Sends requests that a batch holds back, because a graceful close waits for them. */
    @Override
    public void sendPosted() {
        lock.lock();
        try {
            wanted |= !posted.isEmpty();
        } finally {
            lock.unlock();
        }
        transport.onEventLoop(this::flush);
    }

    /** Records that a connection is closed, as the sidecar reported. */
    @Override
    public void connectionClosed(long connection) {
        lock.lock();
        try {
            router.table().close(connection);
        } finally {
            lock.unlock();
        }
    }

    private void start(QueueOpen open) {
        if (end == null) {
            call.start(transport, open);
        }
    }

    /** Sends posted requests as far as the call takes them, and half-closes the call if no more will be posted. */
    private void flush() {
        while (true) {
            QueueRequest request;
            lock.lock();
            try {
                boolean toSend = wanted && end == null && !posted.isEmpty();
                if (toSend && !call.isReady()) {
                    // The flush continues when the call reports that it is ready.
                    return;
                }
                request = toSend ? posted.next() : null;
                if (request == null) {
                    wanted = false;
                    flushing = false;
                    break;
                }
            } finally {
                lock.unlock();
            }
            call.send(request);
        }
        if (draining && end == null) {
            call.halfClose();
        }
    }

    private void beginDrain() {
        lock.lock();
        try {
            draining = true;
            wanted = true;
        } finally {
            lock.unlock();
        }
        flush();
    }

    /** Gives a new handler the completions that came before it. */
    private void handOver(CompletionHandler newHandler) {
        List<WorkCompletion> earlier;
        lock.lock();
        try {
            earlier = router.setHandler(newHandler);
            wakePosters();
        } finally {
            lock.unlock();
        }
        for (WorkCompletion completion : earlier) {
            handle(completion);
            router.delivered(completion);
        }
    }

    private void handle(WorkCompletion completion) {
        CompletionHandler taker = router.handler();
        if (taker == null || end != null) {
            return;
        }
        try {
            taker.onCompletion(completion);
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "a completion handler failed; its queue ends", e);
            end(Errors.handlerFailed(e), false);
        }
    }

    /**
     * Ends the queue and fails everything outstanding.
     *
     * @param orderly whether the caller of the queue requested the end
     */
    private void end(SidewarpException cause, boolean orderly) {
        boolean lossless;
        List<CompletableFuture<WorkCompletion>> unfinished;
        lock.lock();
        try {
            if (end != null) {
                return;
            }
            end = cause;
            lossless = orderly && router.table().awaited() == 0 && posted.isEmpty();
            unfinished = router.table().outstandingFutures();
            if (!lossless) {
                router.losePosts();
            }
            posted.clear();
            wakePosters();
            arrived.signalAll();
            ended.signalAll();
        } finally {
            lock.unlock();
        }
        session.forget(failure);
        session.removeQueue(this);
        if (lossless) {
            call.halfClose();
        } else {
            call.cancel(cause);
        }
        opened.completeExceptionally(cause);
        unfinished.forEach(future -> future.completeExceptionally(cause));
        if (!lossless) {
            SessionQueue.tellFailure(router.handler(), cause);
        }
    }

    private void checkUsable() {
        checkNotEnded();
        if (draining) {
            throw Errors.queueDrained();
        }
    }

    private void checkNotEnded() {
        SidewarpException cause = end;
        if (cause != null) {
            throw cause.again();
        }
    }

    private void onResponse(QueueResponse response) {
        SidewarpException broken = null;
        boolean flushAfterwards;
        lock.lock();
        try {
            router.read(response);
            wakePosters();
            arrived.signalAll();
        } catch (SidewarpException e) {
            broken = e;
        } finally {
            // Posts of the handler are sent after all completions have been handed out.
            flushAfterwards = !flushing;
            flushing = true;
            lock.unlock();
        }
        router.handOut(toHandler);
        if (broken != null) {
            end(broken, false);
        }
        if (flushAfterwards) {
            flush();
        }
    }

    /**
     * Handles the end of the call.
     *
     * @param reason failure of the call, or null
     */
    private void onEnd(@Nullable Throwable reason) {
        if (reason != null) {
            Status status = Status.fromThrowable(reason);
            Metadata trailers = Status.trailersFromThrowable(reason);
            end(Errors.of(status, trailers, session.client().target()), false);
            return;
        }
        lock.lock();
        try {
            drained = call.isHalfClosed() && router.table().awaited() == 0 && end == null;
        } finally {
            lock.unlock();
        }
        end(drained ? Errors.queueDrained() : Errors.queueBroken(), drained);
    }
}
