// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import io.sidewarp.engine.memory.ProtectionDomain;
import io.sidewarp.engine.rdmap.CompletionStatus;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Opcode;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.WorkCompletion;
import io.sidewarp.engine.verbs.WorkRequest;
import io.sidewarp.service.telemetry.WorkMeter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The work of one connection: posts it, and takes completions to where they belong. Confined to the session's thread,
 * where completions are polled too, so that nothing here needs a lock; the engine only wakes that thread. Allocates
 * nothing per work request once warm.
 */
public final class ConnectionWork {

    private static final int BATCH = 64;
    /** Batches until other work of the thread gets its turn. */
    private static final int ROUNDS = 16;

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

    private final long connection;
    private final QueuePair queuePair;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final int sendQueue;
    private final int receiveQueue;
    private final EventLoop loop;
    private final WorkMeter meter;
    private final WorkSlots slots = new WorkSlots();
    private final InitialReceives initialReceives = new InitialReceives(this);
    private final ArrayDeque<QueueCall> waitingForSpace = new ArrayDeque<>();
    private final List<CompletionSink> touched = new ArrayList<>();
    private final Runnable drainTask = this::drain;
    private final Runnable notification = this::onNotification;

    private int sendOutstanding;
    private int receiveOutstanding;
    /** Octets of own Writes and Sends, and of own Reads and received Sends: {@link #octetsSent()}. */
    private long ownSent;

    private long ownReceived;
    private volatile long octetsSent;
    private volatile long octetsReceived;
    private boolean draining;
    private boolean notified;
    private boolean ended;

    public ConnectionWork(
            long connection,
            QueuePair queuePair,
            ProtectionDomain domain,
            CompletionQueue completions,
            int sendQueue,
            int receiveQueue,
            EventLoop loop,
            WorkMeter meter) {
        this.connection = connection;
        this.queuePair = queuePair;
        this.domain = domain;
        this.completions = completions;
        this.sendQueue = sendQueue;
        this.receiveQueue = receiveQueue;
        this.loop = loop;
        this.meter = meter;
        completions.requestNotification(notification, false);
    }

    /** The API's id. */
    public long connection() {
        return connection;
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    ProtectionDomain domain() {
        return domain;
    }

    /** Receives that were given with Connect or Accept. */
    public InitialReceives initialReceives() {
        return initialReceives;
    }

    /** Writes, Reads and Sends that are under way. */
    public int sendOutstanding() {
        return sendOutstanding;
    }

    int sendQueue() {
        return sendQueue;
    }

    int receiveQueue() {
        return receiveQueue;
    }

    /**
     * Reserves a place on one of the queues.
     *
     * @return the id for the engine's work request, or -1 when the queue is full
     */
    int claim(CompletionSink sink, long id, boolean signaled, boolean receive) {
        if (receive ? receiveOutstanding == receiveQueue : sendOutstanding == sendQueue) {
            return -1;
        }
        return slots.take(sink, id, signaled, receive, receive ? 0 : meter.begin());
    }

    /** Gives a place back that was not used. */
    void unclaim(int slot) {
        slots.give(slot);
    }

    /** Posts a request whose id was claimed. Gives the place back unless it answers POSTED. */
    PostResult post(WorkRequest request) {
        int slot = (int) request.id();
        boolean receive = slots.isReceive(slot);
        PostResult result = ended
                ? PostResult.INVALID_STATE
                : receive ? queuePair.postReceive(request) : queuePair.postSend(request);
        if (result != PostResult.POSTED) {
            slots.give(slot);
        } else if (receive) {
            receiveOutstanding++;
        } else {
            sendOutstanding++;
        }
        return result;
    }

    /** Has the call resumed once there may be space on the send queue. */
    void awaitSpace(QueueCall call) {
        waitingForSpace.add(call);
    }

    /** No completions come any more: completes what is left. Idempotent. */
    public void end() {
        if (ended) {
            return;
        }
        drain();
        ended = true;
        WorkCompletion flushed = new WorkCompletion();
        for (int slot = 0; slot < slots.capacity(); slot++) {
            if (slots.isTaken(slot)) {
                Opcode opcode = slots.isReceive(slot) ? Opcode.RECEIVE : Opcode.SEND;
                flushed.set(slot, queuePair.number(), opcode, CompletionStatus.FLUSHED, 0);
                dispatch(flushed);
            }
        }
        publish();
        flushTouched();
    }

    /** Octets of completed Writes and Sends of this side. Any thread may ask. */
    public long octetsSent() {
        return octetsSent;
    }

    /** Octets of completed Reads of this side and of received Sends. Any thread may ask. */
    public long octetsReceived() {
        return octetsReceived;
    }

    private void publish() {
        meter.publish();
        octetsSent = ownSent;
        octetsReceived = ownReceived;
    }

    private void onNotification() {
        if (!loop.inEventLoop()) {
            loop.execute(drainTask);
        } else if (draining) {
            notified = true;
        } else {
            drain();
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
                    publish();
                    flushTouched();
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
        if (slots.isReceive(slot)) {
            receiveOutstanding--;
        } else {
            sendOutstanding--;
        }
        switch (completion.opcode()) {
            case RDMA_READ, RECEIVE -> ownReceived += completion.length();
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE, SEND -> ownSent += completion.length();
            case IMMEDIATE, FETCH_ADD, COMPARE_SWAP, LOCAL_INVALIDATE, ENABLE -> {}
        }
        meter.completed(completion, slots.time(slot));
        long id = slots.id(slot);
        boolean signaled = slots.isSignaled(slot);
        slots.give(slot);
        sink.complete(this, id, signaled, completion);
        if (touched.isEmpty() || !touched.getLast().equals(sink)) {
            touched.add(sink);
        }
    }

    private void flushTouched() {
        for (int i = 0; i < touched.size(); i++) {
            touched.get(i).flush();
        }
        touched.clear();
        int waiting = waitingForSpace.size();
        for (int i = 0; i < waiting && (ended || sendOutstanding < sendQueue); i++) {
            waitingForSpace.remove().resume();
        }
    }
}
