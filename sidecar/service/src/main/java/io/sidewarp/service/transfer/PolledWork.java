// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import io.sidewarp.engine.net.DeferredTask;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.service.telemetry.WorkMeter;
import java.util.ArrayList;
import java.util.List;

/**
 * Work whose completions come from one completion queue. Takes each completion to its sink. Confined to the session's
 * thread, where completions are polled too: no locks are needed, and the engine only wakes that thread. Allocates
 * nothing per work request once warm.
 */
abstract class PolledWork {

    private static final int BATCH = 64;
    /** Number of batches after which other work of the thread gets its turn. */
    private static final int ROUNDS = 16;
    /**
     * Number of rounds of loop tasks that run before completions are handed out. An input stream reads its second
     * buffer after one round. An output stream continues after the tasks that were queued before it.
     */
    static final int STREAM_ROUNDS = 2;

    private static final FastThreadLocal<Cqe[]> POLLED = new FastThreadLocal<>() {
        @Override
        protected Cqe[] initialValue() {
            Cqe[] batch = new Cqe[BATCH];
            for (int i = 0; i < BATCH; i++) {
                batch[i] = new Cqe();
            }
            return batch;
        }
    };

    private final CompletionQueue completions;
    private final EventLoop loop;
    private final WorkMeter meter;
    private final WorkSlots slots = new WorkSlots();
    private final List<CompletionTarget> touched = new ArrayList<>();
    private final Runnable drainTask = this::drain;
    private final DeferredTask lateDrain;
    private final Runnable notification = this::onNotification;

    private boolean draining;
    private boolean notified;
    private boolean ended;

    PolledWork(CompletionQueue completions, EventLoop loop, WorkMeter meter) {
        this.completions = completions;
        this.loop = loop;
        this.meter = meter;
        this.lateDrain = new DeferredTask(loop, STREAM_ROUNDS, drainTask);
    }

    /** Starts taking completions. */
    final void begin() {
        completions.requestNotification(notification, false);
    }

    /**
     * Counts a completion.
     *
     * @return the API's id of the connection that carried out the work, 0 if there is none
     */
    abstract long completed(Cqe completion, boolean receive);

    /** Publishes the counts of a batch of completions. */
    abstract void publish();

    /** Resumes waiting work, for which {@link #completed} may have made room. */
    abstract void resumeWaiting();

    final CompletionQueue completions() {
        return completions;
    }

    final EventLoop loop() {
        return loop;
    }

    final WorkSlots slots() {
        return slots;
    }

    final WorkMeter meter() {
        return meter;
    }

    /** Returns whether no more completions come. */
    public final boolean isEnded() {
        return ended;
    }

    /** Releases a place that was not used. */
    final void unclaim(int slot) {
        slots.give(slot);
    }

    /** Ends the work: no more completions come, and outstanding work completes as flushed. Idempotent. */
    public void end() {
        if (ended) {
            return;
        }
        drainAll();
        ended = true;
        Cqe flushed = new Cqe();
        for (int slot = 0; slot < slots.capacity(); slot++) {
            if (slots.isTaken(slot)) {
                WrOpcode opcode = slots.isReceive(slot) ? WrOpcode.RECEIVE : WrOpcode.SEND;
                flushed.set(slot, 0, opcode, CqeStatus.FLUSHED, 0);
                dispatch(flushed);
            }
        }
        finishBatch();
    }

    /** Takes all available completions. Must not be called while completions are handed out. */
    final void drainAll() {
        while (dispatchBatch() == BATCH) {
            // More completions may be available.
        }
        finishBatch();
    }

    /**
     * Defers completions, so that all completions of this loop turn share one message. A stream that has used its share
     * of the turn continues after the tasks that were queued before it. Completions are deferred in the same way, to
     * include those of that stream. Each message is an exchange with the application.
     */
    private void onNotification() {
        if (!loop.inEventLoop()) {
            loop.execute(notification);
        } else if (draining) {
            notified = true;
        } else {
            lateDrain.request();
        }
    }

    private void drain() {
        if (draining || ended) {
            return;
        }
        draining = true;
        try {
            int rounds = 0;
            do {
                notified = false;
                int count = dispatchBatch();
                if (count > 0) {
                    finishBatch();
                }
                if (++rounds == ROUNDS) {
                    loop.execute(drainTask);
                    return;
                }
                if (count < BATCH) {
                    completions.requestNotification(notification, false);
                } else {
                    notified = true;
                }
            } while (notified);
        } finally {
            draining = false;
        }
    }

    /** Takes one batch of completions to their sinks. Returns the number of completions. */
    private int dispatchBatch() {
        Cqe[] batch = POLLED.get();
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            dispatch(batch[i]);
        }
        return count;
    }

    private void dispatch(Cqe completion) {
        if (!slots.isTaken(completion.id())) {
            throw new IllegalStateException("completion of unknown work " + completion.id());
        }
        int slot = (int) completion.id();
        CompletionTarget sink = slots.sink(slot);
        long connection = completed(completion, slots.isReceive(slot));
        meter.completed(completion, slots.time(slot));
        long id = slots.id(slot);
        boolean signaled = slots.isSignaled(slot);
        slots.give(slot);
        sink.complete(connection, id, signaled, completion);
        if (touched.isEmpty() || !touched.getLast().equals(sink)) {
            touched.add(sink);
        }
    }

    private void finishBatch() {
        meter.publish();
        publish();
        for (int i = 0; i < touched.size(); i++) {
            touched.get(i).flush();
        }
        touched.clear();
        resumeWaiting();
    }
}
