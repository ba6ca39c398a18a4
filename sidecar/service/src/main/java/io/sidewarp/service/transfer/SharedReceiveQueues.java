// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.netty.util.collection.LongObjectHashMap;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.verbs.CompletionQueue;
import io.sidewarp.engine.verbs.Srq;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.memory.SessionMemory;
import io.sidewarp.service.quota.Grant;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.OpenSessionResponse;
import io.sidewarp.v1.SharedReceiveQueue;
import io.sidewarp.v1.SharedReceiveQueueLimitReached;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Shared receive queues of one session. Confined to the session's thread. */
public final class SharedReceiveQueues {

    private final SessionContext context;
    private final SessionMemory memory;
    private final LongObjectHashMap<SharedReceiveWork> queues = new LongObjectHashMap<>();

    public SharedReceiveQueues(SessionContext context, SessionMemory memory) {
        this.context = context;
        this.memory = memory;
    }

    /**
     * Creates a queue. Charges the session's quotas with one queue. Also charges one receive, one completion entry and
     * one work entry for each receive that the queue can hold.
     */
    public SharedReceiveQueue create(CreateSharedReceiveQueueRequest request) {
        Pd domain = memory.domain(request.getProtectionDomain());
        int capacity = context.requests()
                .receiveQueue()
                .check(
                        "capacity",
                        request.getCapacity(),
                        context.config().advanced().connection().receiveQueue());
        SharedReceiveWork work = Grant.holding(grant -> {
            grant.take(context.quotas().sharedReceiveQueues(), 1)
                    .take(context.quotas().receives(), capacity)
                    .take(context.quotas().completionEntries(), capacity)
                    .take(context.quotas().workEntries(), capacity);
            return create(domain, capacity, grant);
        });
        try {
            work.arm(request.getLimit());
        } catch (RuntimeException | Error e) {
            work.end();
            throw e;
        }
        queues.put(work.id(), work);
        return toProto(work);
    }

    private SharedReceiveWork create(Pd domain, int capacity, Grant grant) {
        long id = context.ids().incrementAndGet();
        CompletionQueue completions = context.device().createCompletionQueue(capacity);
        Srq queue = null;
        try {
            queue = context.device().createSharedReceiveQueue(domain, capacity);
            return new SharedReceiveWork(
                    id,
                    domain,
                    queue,
                    completions,
                    context.loop(),
                    context.meter(),
                    grant,
                    limit -> tellLimit(id, limit));
        } catch (RuntimeException | Error e) {
            if (queue != null) {
                queue.close();
            }
            completions.close();
            throw e;
        }
    }

    private void tellLimit(long id, int limit) {
        context.events()
                .accept(OpenSessionResponse.newBuilder()
                        .setSharedReceiveQueueLimit(SharedReceiveQueueLimitReached.newBuilder()
                                .setSharedReceiveQueue(id)
                                .setLimit(limit))
                        .build());
    }

    /** Arms a new limit for a queue. The value 0 disarms the limit. */
    public void modify(long id, int limit) {
        require(id).arm(limit);
    }

    /** Destroys a queue. Fails with FAILED_PRECONDITION while connections use it. */
    public void destroy(long id) {
        SharedReceiveWork work = require(id);
        if (work.users() > 0) {
            throw ApiError.state("shared receive queue " + id + " is in use by " + work.users()
                    + " connections; disconnect them first");
        }
        queues.remove(id);
        work.end();
    }

    /** Returns the queue with this id, or null. Runs on the data path and allocates nothing. */
    public @Nullable SharedReceiveWork find(long id) {
        return queues.get(id);
    }

    /** Returns the queue with this id. Fails with NOT_FOUND if the session has no such queue. */
    public SharedReceiveWork require(long id) {
        SharedReceiveWork work = queues.get(id);
        if (work == null) {
            throw ApiError.notFound("shared_receive_queue", id, "create the queue first");
        }
        return work;
    }

    public List<SharedReceiveQueue> list() {
        return queues.values().stream().map(this::toProto).toList();
    }

    public int count() {
        return queues.size();
    }

    /** Destroys all queues. Must run after all connections are gone. Idempotent. */
    public void release() {
        List<SharedReceiveWork> all = new ArrayList<>(queues.values());
        queues.clear();
        all.forEach(SharedReceiveWork::end);
    }

    private SharedReceiveQueue toProto(SharedReceiveWork work) {
        return SharedReceiveQueue.newBuilder()
                .setId(work.id())
                .setProtectionDomain(work.domain().id())
                .setCapacity(work.capacity())
                .setReceives(work.queue().size())
                .setLimit(work.limit())
                .setConnections(work.users())
                .setSessionName(context.name())
                .build();
    }
}
