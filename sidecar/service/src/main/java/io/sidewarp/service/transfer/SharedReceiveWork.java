// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.channel.EventLoop;
import io.netty.util.collection.LongObjectHashMap;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.Srq;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.service.telemetry.WorkMeter;
import java.util.function.IntConsumer;

/**
 * One shared receive queue: the receives that were posted to it, and the connections that take them. The receives of
 * all these connections complete in one completion queue. That queue has as many entries as there are receives, so it
 * cannot overflow (RFC 5042 section 6.4.3.2). Confined to the session's thread.
 */
public final class SharedReceiveWork extends PolledWork {

    private final long id;
    private final Pd domain;
    private final Srq queue;
    private final EventLoop loop;
    private final Grant grant;
    private final IntConsumer onLimit;
    /** Connections that use this queue, by the number of their queue pair. */
    private final LongObjectHashMap<ConnectionWork> users = new LongObjectHashMap<>();

    private int outstanding;
    private int limit;
    private long armings;

    /**
     * @param grant quota that is released at the end
     * @param onLimit takes the limit that was reached, on the session's thread
     */
    SharedReceiveWork(
            long id,
            Pd domain,
            Srq queue,
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

    /** Returns the API's id of the queue. */
    public long id() {
        return id;
    }

    /** Returns the engine's queue, with which queue pairs are created. */
    public Srq queue() {
        return queue;
    }

    /** Returns the completion queue for receives of queue pairs that use this queue. */
    public CompletionQueue receiveCompletions() {
        return completions();
    }

    public Pd domain() {
        return domain;
    }

    int capacity() {
        return queue.capacity();
    }

    /** Returns the armed limit, or 0. */
    int limit() {
        return limit;
    }

    /** Returns the number of connections that use this queue. */
    int users() {
        return users.size();
    }

    /** Requests one event when fewer receives than the limit are left; 0 requests none. */
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

    /**
     * Removes a connection that is gone. Its last receives are completed. Receives that no message took remain for
     * other connections.
     */
    void detach(ConnectionWork work) {
        drainAll();
        users.remove(work.queuePair().number());
    }

    /** Reserves a place. Returns the id for the engine's work request, or -1 if the queue is full. */
    int claim(CompletionTarget sink, long callersId) {
        return outstanding == capacity() ? -1 : slots().take(sink, callersId, true, true, 0);
    }

    /** Posts a request whose id was claimed. Releases the place unless the result is POSTED. */
    PostResult post(Wr request) {
        PostResult result = queue.postReceive(request);
        if (result == PostResult.POSTED) {
            outstanding++;
        } else {
            unclaim((int) request.id());
        }
        return result;
    }

    /** Completes outstanding receives and releases everything. No connection uses the queue any more. */
    @Override
    public void end() {
        queue.close();
        super.end();
        completions().close();
        grant.close();
    }

    @Override
    long completed(Cqe completion, boolean receive) {
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
