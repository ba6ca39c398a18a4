// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.HostPort;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Connector;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.ReceivesFirst;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WaitStrategy;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.util.concurrent.CompletableFuture;

/** A data connection at the client's side: its queue, and the driver that keeps it busy. */
final class DataLink implements AutoCloseable {

    /** Bytes of the Read that ends a test. */
    private static final int FENCE_LENGTH = 8;

    private final PerfPlan plan;
    private final Connection connection;
    private final WorkQueue queue;
    private final Driver driver;
    private final Sge fenceSink;
    private final RemoteAddress fenceSource;
    private volatile boolean fenced;

    private DataLink(
            PerfPlan plan,
            Connection connection,
            WorkQueue queue,
            Driver driver,
            Sge fenceSink,
            RemoteAddress fenceSource) {
        this.plan = plan;
        this.connection = connection;
        this.queue = queue;
        this.driver = driver;
        this.fenceSink = fenceSink;
        this.fenceSource = fenceSource;
    }

    /**
     * Connects.
     *
     * @param region this side's memory
     * @param index number of the connection in its test
     */
    static DataLink connect(
            Session session,
            HostPort peer,
            ConnectionFlags flags,
            PerfPlan plan,
            SharedRegion region,
            PerfMessage.Ready ready,
            int index,
            QueueOptions queueOptions) {
        long tail = plan.tailOffset(index);
        int reads = Math.min(plan.depth(), session.limits().maxOrd());
        ConnectionOptions.Builder options =
                flags.options().sendQueue(plan.depth() + 1).ord(Math.max(1, reads));
        boolean credits = plan.operation() == Operation.SEND && !plan.latency();
        Hello hello = new Hello(Service.PERF_DATA, new PerfMessage.DataHello(ready.token(), index).encode());
        return ReceivesFirst.open(
                session,
                options.privateData(hello.encode()).build(),
                options(plan, queueOptions),
                (connection, queue) -> {
                    checkCredits(queue, plan);
                    Driver driver = plan.latency() && plan.operation() != Operation.READ
                            ? pingPong(queue, connection, plan, region, ready, queueOptions.waitStrategy())
                            : pipeline(queue, connection, plan, region, ready, index, credits);
                    driver.serve(queue);
                    return new DataLink(
                            plan,
                            connection,
                            queue,
                            driver,
                            region.slice(tail + PerfPlan.FENCE_OFFSET, FENCE_LENGTH),
                            ready.region().plus(tail + PerfPlan.FENCE_OFFSET));
                },
                connection -> Connector.connect(session, peer, hello, connection));
    }

    Connection connection() {
        return connection;
    }

    Driver driver() {
        return driver;
    }

    /**
     * Completes when the peer has everything in its memory, because a peer answers a Read after all earlier Writes and
     * Sends. A flush does the same, but with an RNIC its success proves nothing about the host's memory.
     */
    CompletableFuture<Void> fence() {
        CompletableFuture<?> answered = plan.latency() && plan.operation() == Operation.WRITE
                ? CompletableFuture.completedFuture(null)
                : connection.readAsync(fenceSink, fenceSource);
        return answered.thenAccept(ignored -> fenced = true);
    }

    /**
     * Closes the connection in order if everything has arrived, so that the peer's sidecar reports no error. Aborts it
     * otherwise.
     */
    @Override
    public void close() {
        queue.close();
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
        QueueOptions options = queueOptions.withOutstanding(work + PerfPlan.CREDIT_SLOTS + 1);
        return plan.latency() && plan.operation() == Operation.WRITE ? WatchedMemory.queueOptions(options) : options;
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

    private static Driver pingPong(
            WorkQueue queue,
            Connection connection,
            PerfPlan plan,
            SharedRegion region,
            PerfMessage.Ready ready,
            WaitStrategy strategy) {
        Sge incoming = region.slice(plan.slotOffset(0, 0), plan.size());
        Sge outgoing = region.slice(plan.slotOffset(0, 1), plan.size());
        if (plan.operation() == Operation.SEND) {
            WorkRequest receive = WorkRequest.receive(connection, incoming);
            SendPingPong.postReceives(queue, receive);
            return new SendPingPong(queue, WorkRequest.send(connection, outgoing), receive);
        }
        RemoteAddress target = ready.region().plus(plan.slotOffset(0, 0));
        return new WritePingPong(
                queue,
                WorkRequest.write(connection, target, outgoing).unsignaled(),
                new WatchedMemory(region, plan, strategy));
    }

    private static Driver pipeline(
            WorkQueue queue,
            Connection connection,
            PerfPlan plan,
            SharedRegion region,
            PerfMessage.Ready ready,
            int index,
            boolean credits) {
        WorkRequest[] requests = new WorkRequest[plan.depth()];
        for (int i = 0; i < requests.length; i++) {
            long offset = plan.slotOffset(index, i);
            Sge local = region.slice(offset, plan.size());
            RemoteAddress remote = ready.region().plus(offset);
            WorkRequest request = switch (plan.operation()) {
                case WRITE -> WorkRequest.write(connection, remote, local);
                case READ -> WorkRequest.read(connection, remote, local);
                case SEND -> WorkRequest.send(connection, local);
            };
            requests[i] = (i + 1) % plan.signal() == 0 ? request : request.unsignaled();
        }
        Credits flow =
                credits ? new Credits(queue, connection, region, plan.tailOffset(index), ready.receives()) : null;
        if (flow != null) {
            flow.postReceives();
        }
        return new Pipeline(queue, requests, plan.signal(), flow);
    }
}
