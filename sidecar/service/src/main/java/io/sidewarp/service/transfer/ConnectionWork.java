// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.service.telemetry.WorkMeter;
import io.sidewarp.v1.WorkCompletion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Work of one connection. Excludes receives that the connection takes from a shared receive queue. */
public final class ConnectionWork extends PolledWork {

    private final long connection;
    private final QueuePair queuePair;
    private final Pd domain;
    private final int sendQueue;
    private final int receiveQueue;
    private final @Nullable SharedReceiveWork sharedReceives;
    private final ArrayDeque<WorkSource> waitingForSpace = new ArrayDeque<>();
    /** Refusals that wait for their turn, bounded by the credits of the calls. */
    private final List<LateRefusal> lateRefusals = new ArrayList<>();

    private final PostCount posts;
    private Supplier<PostCount.Hold> hold = () -> PostCount.Hold.NONE;
    private Runnable onWait = () -> {};
    private boolean sendPermitted = true;
    /** Ends the connection when its work is refused, as RNICs do; null: refused work does no harm. */
    private @Nullable Runnable onRefused;

    private boolean refused;

    private int sendOutstanding;
    private int receiveOutstanding;
    /** Bytes of own Writes and Sends for {@link #octetsSent()}, and of own Reads and received Sends. */
    private long ownSent;

    private long ownReceived;
    private long completed;
    private long told;
    private volatile long octetsSent;
    private volatile long octetsReceived;

    /** @param sharedReceives shared receive queue to take receives from; null: the connection has its own receives */
    public ConnectionWork(
            long connection,
            QueuePair queuePair,
            Pd domain,
            CompletionQueue completions,
            int sendQueue,
            int receiveQueue,
            @Nullable SharedReceiveWork sharedReceives,
            EventLoop loop,
            WorkMeter meter) {
        super(completions, loop, meter);
        this.connection = connection;
        this.queuePair = queuePair;
        this.domain = domain;
        this.sendQueue = sendQueue;
        this.receiveQueue = receiveQueue;
        this.sharedReceives = sharedReceives;
        this.posts = new PostCount(
                connection,
                loop,
                () -> completed,
                () -> waitingForSpace.isEmpty() ? hold.get() : PostCount.Hold.SEND_QUEUE);
        if (sharedReceives != null) {
            sharedReceives.attach(this);
        }
        begin();
    }

    /** Returns the API's id of the connection. */
    public long connection() {
        return connection;
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    /** Returns the shared receive queue; null if the connection has its own receives. */
    public @Nullable SharedReceiveWork sharedReceives() {
        return sharedReceives;
    }

    Pd domain() {
        return domain;
    }

    /** Returns the number of send work requests in progress. */
    public int sendOutstanding() {
        return sendOutstanding;
    }

    int receiveQueue() {
        return receiveQueue;
    }

    /**
     * Reserves a place on one of the queues.
     *
     * @return the id for the engine's work request, or -1 if the queue is full
     */
    int claim(CompletionTarget sink, long id, boolean signaled, boolean receive) {
        if (receive ? receiveOutstanding == receiveQueue : sendOutstanding == sendQueue) {
            return -1;
        }
        return slots().take(sink, id, signaled, receive, receive ? 0 : meter().begin());
    }

    /** Posts a request whose id was claimed. Releases the place unless the result is POSTED. */
    PostResult post(Wr request) {
        int slot = (int) request.id();
        boolean receive = slots().isReceive(slot);
        PostResult result = isEnded()
                ? PostResult.INVALID_STATE
                : receive ? queuePair.postReceive(request) : queuePair.postSend(request);
        if (result != PostResult.POSTED) {
            unclaim(slot);
        } else if (receive) {
            receiveOutstanding++;
        } else {
            sendOutstanding++;
            if (!sendPermitted) {
                onWait.run();
            }
        }
        return result;
    }

    /**
     * Makes posted send work wait until {@link #permitSending}.
     *
     * @param listener runs when such work waits
     */
    public void forbidSending(Runnable listener) {
        onWait = listener;
        sendPermitted = false;
    }

    public void permitSending() {
        sendPermitted = true;
    }

    /** Returns whether send work waits until sending is permitted. */
    public boolean isSendForbidden() {
        return !sendPermitted && sendOutstanding > 0;
    }

    /** Returns whether work of Queue calls or rings waits for a place on the send queue. */
    public boolean awaitsSendQueue() {
        return !waitingForSpace.isEmpty();
    }

    /** Counts a work request from a Queue call or a ring that was begun or refused. */
    void onPosted() {
        posts.increment();
    }

    /**
     * Returns a future that completes after {@code count} work requests from Queue calls and rings, or when the
     * connection ends. Fails with FAILED_PRECONDITION if the work requests do not arrive.
     */
    public CompletableFuture<Void> afterPosts(long count) {
        return posts.reached(count);
    }

    /** Posts receives from the session's rings when a message finds no receive. */
    public void use(SessionRings rings) {
        hold = rings::hold;
        queuePair.setReceiveSupply(rings::supplyReceives);
    }

    /** Counts a completion that was given to a Queue call or a ring. */
    void onTold() {
        told++;
    }

    /** Returns the number of completions that were given to Queue calls and rings so far. */
    public long told() {
        return told;
    }

    /** Hands out all pending completions. */
    public void handOut() {
        if (isEnded()) {
            return;
        }
        if (sharedReceives != null) {
            sharedReceives.drainAll();
        }
        drainAll();
    }

    /** Resumes the call when the send queue may have space. A call that ends earlier must be forgotten. */
    void awaitSpace(WorkSource call) {
        waitingForSpace.add(call);
    }

    /** Forgets a call that has ended: it waits for nothing and receives nothing. */
    void forget(WorkSource call) {
        waitingForSpace.remove(call);
        lateRefusals.removeIf(refusal -> refusal.call.equals(call));
    }

    /** Returns the number of calls that wait for space and of refusals that wait for their turn. */
    int waiting() {
        return waitingForSpace.size() + lateRefusals.size();
    }

    /**
     * Refuses send work after the work in progress. Send work completes in the order of posting, and a completion tells
     * the caller that earlier unsignaled work is complete. A call that ends earlier must be forgotten.
     */
    void refuseInTurn(WorkSource call, WorkCompletion completion) {
        if (sendOutstanding == 0) {
            call.refused(completion);
            call.toldBy(this);
            endIfRefused();
        } else {
            lateRefusals.add(new LateRefusal(call, completion));
        }
    }

    /**
     * Makes refused work end the connection as on an RNIC: it completes behind earlier send work, and later send work is
     * flushed.
     */
    public void endWhenRefused(Runnable end) {
        onRefused = end;
    }

    /** Records that work is refused. Returns whether this ends the connection. */
    boolean endsBy(boolean receive) {
        refused |= onRefused != null;
        if (receive) {
            endIfRefused();
        }
        return refused;
    }

    /** Returns whether send work is flushed, because earlier work was refused. */
    boolean isRefused() {
        return refused;
    }

    private void endIfRefused() {
        Runnable end = onRefused;
        if (refused && end != null) {
            onRefused = null;
            // Not at once: a batch of work requests may be on this stack.
            loop().execute(end);
        }
    }

    @Override
    public void end() {
        if (sharedReceives != null && !isEnded()) {
            sharedReceives.detach(this);
        }
        super.end();
        posts.end();
    }

    /** Returns the bytes of completed Writes and Sends of this side. Thread-safe. */
    public long octetsSent() {
        return octetsSent;
    }

    /** Returns the bytes of completed Reads of this side and of received Sends. Thread-safe. */
    public long octetsReceived() {
        return octetsReceived;
    }

    /** Counts the completion of a receive that a message of this connection took from the shared receive queue. */
    void received(Cqe completion) {
        ownReceived += completion.length();
        octetsReceived = ownReceived;
    }

    @Override
    long completed(Cqe completion, boolean receive) {
        if (receive) {
            receiveOutstanding--;
        } else {
            sendOutstanding--;
        }
        completed++;
        switch (completion.opcode()) {
            case RDMA_READ, RECEIVE -> ownReceived += completion.length();
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE, SEND -> ownSent += completion.length();
            case IMMEDIATE, FETCH_ADD, COMPARE_SWAP, LOCAL_INVALIDATE, ENABLE, FLUSH -> {}
        }
        return connection;
    }

    @Override
    void publish() {
        octetsSent = ownSent;
        octetsReceived = ownReceived;
    }

    @Override
    void resumeWaiting() {
        if (sendOutstanding == 0 && !lateRefusals.isEmpty()) {
            tellLateRefusals();
        }
        int waiting = waitingForSpace.size();
        for (int i = 0; i < waiting && (isEnded() || sendOutstanding < sendQueue); i++) {
            WorkSource next = waitingForSpace.poll();
            if (next == null) {
                return;
            }
            next.resume();
        }
    }

    private void tellLateRefusals() {
        List<LateRefusal> all = List.copyOf(lateRefusals);
        lateRefusals.clear();
        all.forEach(refusal -> refusal.call.toldBy(this));
        all.forEach(refusal -> refusal.call.refused(refusal.completion));
        all.forEach(refusal -> refusal.call.flush());
        endIfRefused();
    }

    /** Completion of refused work that waits for its turn. */
    private record LateRefusal(WorkSource call, WorkCompletion completion) {}
}
