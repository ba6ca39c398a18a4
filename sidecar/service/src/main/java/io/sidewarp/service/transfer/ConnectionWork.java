// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.ProtectionDomain;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePair;
import io.sidewarp.engine.verbs.WorkCompletion;
import io.sidewarp.engine.verbs.WorkRequest;
import io.sidewarp.service.telemetry.WorkMeter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The work of one connection; not its receives when it takes them from a shared receive queue. */
public final class ConnectionWork extends PolledWork {

    private final long connection;
    private final QueuePair queuePair;
    private final ProtectionDomain domain;
    private final int sendQueue;
    private final int receiveQueue;
    private final @Nullable SharedReceiveWork sharedReceives;
    private final ArrayDeque<WorkSource> waitingForSpace = new ArrayDeque<>();
    /** Bounded by the credits of the calls. */
    private final List<LateRefusal> lateRefusals = new ArrayList<>();

    private final PostCount posts;
    private BooleanSupplier heldBack = () -> false;
    private Runnable onWait = () -> {};
    private boolean sendPermitted = true;

    private int sendOutstanding;
    private int receiveOutstanding;
    /** Octets of own Writes and Sends, and of own Reads and received Sends: {@link #octetsSent()}. */
    private long ownSent;

    private long ownReceived;
    private long completed;
    private long told;
    private volatile long octetsSent;
    private volatile long octetsReceived;

    /** @param sharedReceives where it takes its receives from; null: it has its own */
    public ConnectionWork(
            long connection,
            QueuePair queuePair,
            ProtectionDomain domain,
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
                () -> waitingForSpace.isEmpty() && !heldBack.getAsBoolean() ? completed : PostCount.HELD_BACK);
        if (sharedReceives != null) {
            sharedReceives.attach(this);
        }
        begin();
    }

    /** The API's id. */
    public long connection() {
        return connection;
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    /** Where it takes its receives from; null: it has its own. */
    public @Nullable SharedReceiveWork sharedReceives() {
        return sharedReceives;
    }

    ProtectionDomain domain() {
        return domain;
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
        return slots().take(sink, id, signaled, receive, receive ? 0 : meter().begin());
    }

    /** Posts a request whose id was claimed. Gives the place back unless it answers POSTED. */
    PostResult post(WorkRequest request) {
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
     * Send work that is posted waits until {@link #permitSending}.
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

    /** Whether send work waits until sending is permitted. */
    public boolean isSendForbidden() {
        return !sendPermitted && sendOutstanding > 0;
    }

    /** A work request that came on a Queue call or in a ring was begun, or refused. */
    void onPosted() {
        posts.increment();
    }

    /**
     * Complete when so many work requests came on Queue calls and in rings, or the connection ended; fails with FAILED_PRECONDITION when
     * they stay out.
     */
    public CompletableFuture<Void> afterPosts(long count) {
        return posts.reached(count);
    }

    /** Has the receives in the rings of the session posted before a message finds none. */
    public void use(SessionRings rings) {
        heldBack = rings::isHeldBack;
        queuePair.setReceiveSupply(rings::supplyReceives);
    }

    /** A completion was given to a Queue call or a ring. */
    void onTold() {
        told++;
    }

    /** Returns the completions that Queue calls and rings were given so far. */
    public long told() {
        return told;
    }

    /** Hands out all completions that are there. */
    public void handOut() {
        if (isEnded()) {
            return;
        }
        if (sharedReceives != null) {
            sharedReceives.drainAll();
        }
        drainAll();
    }

    /** Has the call resumed once there may be space on the send queue. It is to be forgotten if it ends before. */
    void awaitSpace(WorkSource call) {
        waitingForSpace.add(call);
    }

    /** The call has ended: it waits for nothing, and is told nothing. */
    void forget(WorkSource call) {
        waitingForSpace.remove(call);
        lateRefusals.removeIf(refusal -> refusal.call.equals(call));
    }

    /** Calls that wait for space, and refusals that wait for their turn. */
    int waiting() {
        return waitingForSpace.size() + lateRefusals.size();
    }

    /**
     * Tells a call of send work that this connection does not take any more, behind the work that is under way: send work
     * completes in the order of posting, and callers know by a completion that unsignaled work before it is complete.
     * The call is to be forgotten if it ends before.
     */
    void refuseInTurn(WorkSource call, io.sidewarp.v1.WorkCompletion completion) {
        if (sendOutstanding == 0) {
            call.refused(completion);
            call.toldBy(this);
        } else {
            lateRefusals.add(new LateRefusal(call, completion));
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

    /** Octets of completed Writes and Sends of this side. Any thread may ask. */
    public long octetsSent() {
        return octetsSent;
    }

    /** Octets of completed Reads of this side and of received Sends. Any thread may ask. */
    public long octetsReceived() {
        return octetsReceived;
    }

    /** Counts the completion of a receive that its messages took from the shared receive queue. */
    void received(WorkCompletion completion) {
        ownReceived += completion.length();
        octetsReceived = ownReceived;
    }

    @Override
    long completed(WorkCompletion completion, boolean receive) {
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
    }

    /** A completion that waits for its turn. */
    private record LateRefusal(WorkSource call, io.sidewarp.v1.WorkCompletion completion) {}
}
