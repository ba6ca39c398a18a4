// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.channel.EventLoop;
import io.netty.util.collection.LongObjectHashMap;
import io.sidewarp.engine.memory.ProtectionDomain;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.SharedReceiveQueue;
import io.sidewarp.engine.verbs.WorkCompletion;
import io.sidewarp.engine.verbs.WorkRequest;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.service.telemetry.WorkMeter;
import java.util.function.IntConsumer;

/**
 * One shared receive queue: the receives that were posted to it and the connections that take them. Completions of
 * all these connections' receives come from one completion queue of as many entries as the queue has receives, so that
 * it cannot overflow (RFC 5042 section 6.4.3.2). Confined to the session's thread.
 */
public final class SharedReceiveWork extends PolledWork {

    private final long id;
    private final ProtectionDomain domain;
    private final SharedReceiveQueue queue;
    private final EventLoop loop;
    private final Grant grant;
    private final IntConsumer onLimit;
    /** Connections that use it, by the number of their queue pair. */
    private final LongObjectHashMap<ConnectionWork> users = new LongObjectHashMap<>();

    private int outstanding;
    private int limit;
    private long armings;

    /**
     * @param grant given back when it ends
     * @param onLimit takes the limit that was reached, on the session's thread
     */
    SharedReceiveWork(
            long id,
            ProtectionDomain domain,
            SharedReceiveQueue queue,
            CompletionQueue completions,
            EventLoop loop,
            WorkMeter meter,
            Grant grant,
            IntConsumer onLimit) {
        super(completions, loop, meter);
        this.id = id;
        this.domain = domain;
        this.queue = queue;
        this.loop = loop;
        this.grant = grant;
        this.onLimit = onLimit;
        begin();
    }

    /** The API's id. */
    public long id() {
        return id;
    }

    /** What a queue pair that uses it is created with. */
    public SharedReceiveQueue queue() {
        return queue;
    }

    /** Gets the completions of the receives of queue pairs that use it. */
    public CompletionQueue receiveCompletions() {
        return completions();
    }

    public ProtectionDomain domain() {
        return domain;
    }

    int capacity() {
        return queue.capacity();
    }

    /** The limit that is armed, or 0. */
    int limit() {
        return limit;
    }

    /** Connections that use it. */
    int users() {
        return users.size();
    }

    /** Asks to be told once when fewer receives than a number are left; not to be told with 0. */
    void arm(int newLimit) {
        if (Integer.compareUnsigned(newLimit, capacity()) > 0) {
            throw ApiError.invalid(
                    "limit",
                    Integer.toUnsignedString(newLimit),
                    "0 to " + capacity() + ", the capacity of the shared receive queue");
        }
        long arming = ++armings;
        limit = newLimit;
        queue.armLimit(newLimit, () -> loop.execute(() -> onLimitReached(arming, newLimit)));
    }

    private void onLimitReached(long arming, int reached) {
        if (isEnded()) {
            return;
        }
        if (arming == armings) {
            limit = 0;
        }
        onLimit.accept(reached);
    }

    void attach(ConnectionWork work) {
        users.put(work.queuePair().number(), work);
    }

    /** A connection is gone: its last receives are told to be complete, those that nobody took are for the others. */
    void detach(ConnectionWork work) {
        drainAll();
        users.remove(work.queuePair().number());
    }

    /** Reserves a place: the id for the engine's work request, or -1 when the queue is full. */
    int claim(CompletionSink sink, long callersId) {
        return outstanding == capacity() ? -1 : slots().take(sink, callersId, true, true, 0);
    }

    /** Posts a request whose id was claimed. Gives the place back unless it answers POSTED. */
    PostResult post(WorkRequest request) {
        PostResult result = queue.postReceive(request);
        if (result == PostResult.POSTED) {
            outstanding++;
        } else {
            unclaim((int) request.id());
        }
        return result;
    }

    /** Completes what is left, and gives everything back. No connection uses it any more. */
    @Override
    public void end() {
        queue.close();
        super.end();
        completions().close();
        grant.close();
    }

    @Override
    long completed(WorkCompletion completion, boolean receive) {
        outstanding--;
        ConnectionWork work = users.get(completion.queuePair());
        if (work == null) {
            return 0;
        }
        work.received(completion);
        return work.connection();
    }

    @Override
    void publish() {}

    @Override
    void resumeWaiting() {}
}
