// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.memory.SessionMemory;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteWork;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Data transfer of one session. Confined to the session's thread. */
public final class SessionTransfers {

    private final SessionContext context;
    private final ConnectionLookup connections;
    private final LongFunction<@Nullable SharedReceiveWork> sharedReceives;
    private final WorkPoster poster;
    private final WorkItem item = new WorkItem();
    private final Set<QueueCallHandler> calls = new HashSet<>();
    private boolean ended;

    /** @param sharedReceives finds the shared receive queue of an id, or null; allocates nothing */
    public SessionTransfers(
            SessionContext context,
            SessionMemory memory,
            ConnectionLookup connections,
            LongFunction<@Nullable SharedReceiveWork> sharedReceives) {
        this.context = context;
        this.connections = connections;
        this.sharedReceives = sharedReceives;
        this.poster = new WorkPoster(memory, context.limits().sge());
    }

    SessionContext context() {
        return context;
    }

    ConnectionLookup connections() {
        return connections;
    }

    WorkPoster poster() {
        return poster;
    }

    public CompletableFuture<WorkCompletion> write(long connection, WriteWork work) {
        return post(item.of(work, connection));
    }

    public CompletableFuture<WorkCompletion> read(long connection, ReadWork work) {
        return post(item.of(work, connection));
    }

    public CompletableFuture<WorkCompletion> send(long connection, SendWork work) {
        return post(item.of(work, connection));
    }

    /**
     * Posts a flush, which completes when all data that was posted before has been placed at the peer.
     *
     * @param afterPosts number of work requests on Queue calls that must precede the flush
     */
    public CompletableFuture<WorkCompletion> flush(long connection, long afterPosts) {
        return connections
                .require(connection)
                .afterPosts(afterPosts)
                .thenCompose(ignored -> post(item.flush(connection)));
    }

    /** @param sharedReceiveQueue queue to post to instead of a connection, or 0 */
    public CompletableFuture<WorkCompletion> receive(long connection, long sharedReceiveQueue, ReceiveWork work) {
        item.of(work, connection);
        item.sharedReceives = sharedReceiveQueue;
        return post(item);
    }

    /** Posts any work. The result always completes, even for unsignaled work. */
    public CompletableFuture<WorkCompletion> perform(WorkRequest work) {
        item.of(work);
        item.unsignaled = false;
        return post(item);
    }

    /** Posts to a shared receive queue. Returns null on success. Allocates nothing unless the work is refused. */
    @Nullable
    Refusal postShared(WorkItem work, CompletionTarget sink) {
        SharedReceiveWork queue = sharedReceives.apply(work.sharedReceives);
        return queue == null
                ? Refusal.invalid(
                        Status.Code.NOT_FOUND,
                        "shared receive queue " + Long.toUnsignedString(work.sharedReceives)
                                + " is not known in this session; create it first")
                : poster.post(queue, work, sink);
    }

    /** Returns the credits for a Queue call that asks for a number; 0 asks for the default. */
    int credits(int wanted) {
        int limit = context.config().limits().queueOutstanding();
        if (wanted == 0) {
            return Math.min(limit, context.config().advanced().connection().queueOutstanding());
        }
        return Integer.compareUnsigned(wanted, limit) > 0 ? limit : wanted;
    }

    /** Keeps refused work for the status page. The end of a connection is kept once, and not with all work after it. */
    void record(Refusal refusal, WorkItem refused) {
        if (!refusal.isFlushed()) {
            context.telemetry()
                    .errors()
                    .add(
                            refused.sharedReceives == 0
                                    ? "connection " + Long.toUnsignedString(refused.connection)
                                    : "shared receive queue " + Long.toUnsignedString(refused.sharedReceives),
                            context.name(),
                            refusal.code(),
                            refusal.message(),
                            refusal.retry());
        }
    }

    void add(QueueCallHandler call) {
        if (ended) {
            throw ApiError.sessionEnded();
        }
        calls.add(call);
    }

    /** Returns the number of Queue calls whose next work waits for a credit. */
    public long callsWithoutCredit() {
        return calls.stream().filter(QueueCallHandler::awaitsCredit).count();
    }

    void remove(QueueCallHandler call) {
        calls.remove(call);
    }

    /** Ends all Queue calls. Posted work continues. Idempotent. */
    public void release() {
        ended = true;
        for (QueueCallHandler call : Set.copyOf(calls)) {
            call.end();
        }
    }

    /** Returns the connection of the work. If the connection has ended, fails with the advice for this kind of work. */
    private ConnectionWork require(WorkItem work) {
        ConnectionWork connection = connections.find(work.connection);
        if (connection != null) {
            return connection;
        }
        StatusRuntimeException missing = connections.missing(work.connection);
        boolean known = missing.getStatus().getCode() != Status.Code.NOT_FOUND;
        throw known && !work.isFlush() ? ApiError.afterReconnecting(missing) : missing;
    }

    private CompletableFuture<WorkCompletion> post(WorkItem work) {
        SimpleWork simple = new SimpleWork();
        Refusal refusal =
                work.sharedReceives != 0 ? postShared(work, simple) : poster.post(require(work), work, simple);
        return refusal == null ? simple.result : CompletableFuture.failedFuture(refusal.toException());
    }

    /** The only work request of a simple call. */
    private static final class SimpleWork implements CompletionTarget {

        /** Completes with a successful completion, or fails with a status. */
        private final CompletableFuture<WorkCompletion> result = new CompletableFuture<>();

        private @Nullable WorkCompletion completion;

        @Override
        public void complete(long connection, long id, boolean signaled, Cqe done) {
            completion = CompletionProtos.toProto(id, connection, done);
        }

        @Override
        public void flush() {
            if (completion == null) {
                return;
            }
            if (completion.getStatus() == CompletionStatus.COMPLETION_STATUS_SUCCESS) {
                result.complete(completion);
            } else {
                result.completeExceptionally(CompletionProtos.failure(completion));
            }
        }
    }
}
