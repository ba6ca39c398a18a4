// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import io.sidewarp.engine.net.LateTask;
import io.sidewarp.engine.rdmap.CompletionStatus;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.engine.verbs.WorkCompletion;
import io.sidewarp.service.telemetry.WorkMeter;
import java.util.ArrayList;
import java.util.List;

/**
 * Work whose completions come from one completion queue: takes them to where they belong. Confined to the session's
 * thread, where completions are polled too, so that nothing here needs a lock; the engine only wakes that thread.
 * Allocates nothing per work request once warm.
 */
abstract class PolledWork {

    private static final int BATCH = 64;
    /** Batches until other work of the thread gets its turn. */
    private static final int ROUNDS = 16;
    /**
     * How often completions let the tasks of the loop go first. A stream of input reads its second buffer behind one round,
     * and one of output goes on behind the tasks that there were.
     */
    static final int STREAM_ROUNDS = 2;

    private static final FastThreadLocal<WorkCompletion[]> POLLED = new FastThreadLocal<>() {
        @Override
        protected WorkCompletion[] initialValue() {
            WorkCompletion[] batch = new WorkCompletion[BATCH];
            for (int i = 0; i < BATCH; i++) {
                batch[i] = new WorkCompletion();
            }
            return batch;
        }
    };

    private final CompletionQueue completions;
    private final EventLoop loop;
    private final WorkMeter meter;
    private final WorkSlots slots = new WorkSlots();
    private final List<CompletionSink> touched = new ArrayList<>();
    private final Runnable drainTask = this::drain;
    private final LateTask lateDrain;
    private final Runnable notification = this::onNotification;

    private boolean draining;
    private boolean notified;
    private boolean ended;

    PolledWork(CompletionQueue completions, EventLoop loop, WorkMeter meter) {
        this.completions = completions;
        this.loop = loop;
        this.meter = meter;
        this.lateDrain = new LateTask(loop, STREAM_ROUNDS, drainTask);
    }

    /** Begins to take completions. */
    final void begin() {
        completions.requestNotification(notification, false);
    }

    /**
     * Counts a completion.
     *
     * @return the API's id of the connection that carried out the work, 0 when there is none
     */
    abstract long completed(WorkCompletion completion, boolean receive);

    /** The completions of a batch are counted. */
    abstract void publish();

    /** What {@link #completed} counted may make room for work that waits. */
    abstract void resumeWaiting();

    final CompletionQueue completions() {
        return completions;
    }

    final WorkSlots slots() {
        return slots;
    }

    final WorkMeter meter() {
        return meter;
    }

    /** Whether no completions come any more. */
    public final boolean isEnded() {
        return ended;
    }

    /** Gives a place back that was not used. */
    final void unclaim(int slot) {
        slots.give(slot);
    }

    /** No completions come any more: completes what is left. Idempotent. */
    public void end() {
        if (ended) {
            return;
        }
        drainAll();
        ended = true;
        WorkCompletion flushed = new WorkCompletion();
        for (int slot = 0; slot < slots.capacity(); slot++) {
            if (slots.isTaken(slot)) {
                Opcode opcode = slots.isReceive(slot) ? Opcode.RECEIVE : Opcode.SEND;
                flushed.set(slot, 0, opcode, CompletionStatus.FLUSHED, 0);
                dispatch(flushed);
            }
        }
        finishBatch();
    }

    /** Takes all completions that are there; not to be called while completions are handed out. */
    final void drainAll() {
        WorkCompletion[] batch = POLLED.get();
        int count;
        do {
            count = completions.poll(batch);
            for (int i = 0; i < count; i++) {
                dispatch(batch[i]);
            }
        } while (count == BATCH);
        finishBatch();
    }

    /**
     * Never hands out at once: what else completes in this turn of the loop goes out in the same message. A stream that had
     * its share of the turn goes on behind the tasks that were there before it, and so do the completions, to go behind what
     * that completes: each message is an exchange with the application.
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
            WorkCompletion[] batch = POLLED.get();
            int rounds = 0;
            do {
                notified = false;
                int count = completions.poll(batch);
                for (int i = 0; i < count; i++) {
                    dispatch(batch[i]);
                }
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

    private void dispatch(WorkCompletion completion) {
        if (!slots.isTaken(completion.id())) {
            throw new IllegalStateException("completion of unknown work " + completion.id());
        }
        int slot = (int) completion.id();
        CompletionSink sink = slots.sink(slot);
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
