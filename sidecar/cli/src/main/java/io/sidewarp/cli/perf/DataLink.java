// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Connector;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.util.concurrent.CompletableFuture;

/** A data connection at the client's side. */
final class DataLink implements AutoCloseable {

    /** Bytes of the Read that ends a test. */
    private static final int FENCE_LENGTH = 8;

    private final Connection connection;
    private final DataEnd end;
    private final PerfMemory memory;
    private final PerfMessage.Ready ready;
    private final int index;
    private volatile boolean fenced;

    private DataLink(Connection connection, DataEnd end, PerfMemory memory, PerfMessage.Ready ready, int index) {
        this.connection = connection;
        this.end = end;
        this.memory = memory;
        this.ready = ready;
        this.index = index;
    }

    /**
     * Connects.
     *
     * @param memory this side's memory
     * @param index number of the connection in its test
     */
    static DataLink connect(
            Session session,
            HostPort peer,
            ConnectionFlags flags,
            PerfMemory memory,
            PerfMessage.Ready ready,
            int index,
            QueueOptions queueOptions) {
        PerfPlan plan = memory.plan();
        int reads = Math.min(plan.depth(), session.limits().maxOrd());
        Hello hello = new Hello(Service.PERF_DATA, new PerfMessage.DataHello(ready.token(), index).encode());
        ConnectionOptions options = flags.options()
                .sendQueue(plan.depth() + 1)
                .ord(Math.max(1, reads))
                .privateData(hello.encode())
                .build();
        return Connector.openWithQueue(
                session,
                options,
                options(plan, queueOptions),
                (connection, queue) -> {
                    checkCredits(queue, plan);
                    DataEnd end = plan.latency() && plan.operation() != Operation.READ
                            ? DataEnd.roundTrips(
                                    queue, connection, memory, ready.region(), queueOptions.waitStrategy(), true)
                            : pipeline(queue, connection, memory, ready, index);
                    end.serve();
                    end.postReceives();
                    return new DataLink(connection, end, memory, ready, index);
                },
                connection -> Connector.connect(session, peer, hello, connection));
    }

    Connection connection() {
        return connection;
    }

    DataEnd end() {
        return end;
    }

    /**
     * Completes when the peer has everything in its memory, because a peer answers a Read after all earlier Writes and
     * Sends. A flush does the same, but with an RNIC its success proves nothing about the host's memory.
     */
    CompletableFuture<Void> fence() {
        long offset = memory.plan().tailOffset(index) + PerfPlan.FENCE_OFFSET;
        CompletableFuture<?> answered = memory.plan().pollsMemory()
                ? CompletableFuture.completedFuture(null)
                : connection.readAsync(
                        memory.region().slice(offset, FENCE_LENGTH),
                        ready.region().plus(offset));
        return answered.thenAccept(ignored -> fenced = true);
    }

    /**
     * Closes the connection in order if everything has arrived, so that the peer's sidecar reports no error. Aborts it
     * otherwise.
     */
    @Override
    public void close() {
        end.queue.close();
        try {
            if (fenced) {
                connection.close();
            } else {
                connection.abort();
            }
        } catch (SidewarpException e) {
            // The connection has ended already. The fence, or the peer's last Write, has confirmed the data.
        }
    }

    private static QueueOptions options(PerfPlan plan, QueueOptions queueOptions) {
        // The client keeps at most half of its credits unsignaled.
        int work = plan.signal() > 1 ? 2 * plan.depth() : plan.depth();
        return DataEnd.queueOptions(plan, queueOptions.withOutstanding(work + PerfPlan.CREDIT_SLOTS + 1));
    }

    private static void checkCredits(WorkQueue queue, PerfPlan plan) {
        if (queue.credits() < plan.depth() + PerfPlan.CREDIT_SLOTS) {
            int most = queue.credits() - PerfPlan.CREDIT_SLOTS;
            throw new Failure(
                    ExitCode.NO_RESOURCES,
                    "the sidecar grants too few work requests at a time for --depth " + plan.depth() + ": at most "
                            + most + " (its setting sidewarp.limits.queue-outstanding)");
        }
    }

    private static DataEnd pipeline(
            WorkQueue queue, Connection connection, PerfMemory memory, PerfMessage.Ready ready, int index) {
        PerfPlan plan = memory.plan();
        WorkRequest[] requests = new WorkRequest[plan.depth()];
        for (int i = 0; i < requests.length; i++) {
            Sge local = memory.slot(index, i);
            RemoteAddress remote = ready.region().plus(local.offset());
            WorkRequest request = switch (plan.operation()) {
                case WRITE -> WorkRequest.write(connection, remote, local);
                case READ -> WorkRequest.read(connection, remote, local);
                case SEND -> WorkRequest.send(connection, local);
            };
            requests[i] = (i + 1) % plan.signal() == 0 ? request : request.unsignaled();
        }
        Credits credits = plan.operation() == Operation.SEND
                ? new Credits(queue, connection, memory, index, ready.receives())
                : null;
        return new Pipeline(queue, requests, plan.signal(), credits);
    }
}
