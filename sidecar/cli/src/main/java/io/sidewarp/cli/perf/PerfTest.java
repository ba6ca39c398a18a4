// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.Failure;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Connector;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.SessionLimits;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** One test at the server's side: its memory and its data connections. */
final class PerfTest implements AutoCloseable {

    private static final int QUEUE_SLACK = 32;
    private static final long ARRIVAL_PATIENCE = TimeUnit.SECONDS.toNanos(10);
    private static final long ARRIVAL_POLL = TimeUnit.MILLISECONDS.toNanos(1);

    private final Session session;
    private final ConnectionFlags flags;
    private final PerfPlan plan;
    private final RemoteAddress peerRegion;
    private final QueueOptions queueOptions;
    private final PerfMemory memory;
    private final int receives;

    /** Guarded by this. */
    private final List<Connection> connections = new ArrayList<>();

    /** Guarded by this. */
    private final List<DataEnd> ends = new ArrayList<>();

    PerfTest(Session session, ConnectionFlags flags, PerfMessage.Setup setup, QueueOptions queueOptions) {
        this.session = session;
        this.flags = flags;
        this.queueOptions = queueOptions;
        plan = setup.plan();
        peerRegion = setup.region();
        receives = receives(plan, session.limits());
        memory = PerfMemory.create(session, plan);
        if (plan.operation() == Operation.READ) {
            memory.fill();
        }
    }

    /**
     * Returns twice the depth, so that the sender does not wait for credits. Limits of the sidecar may make it less.
     */
    static int receives(PerfPlan plan, SessionLimits limits) {
        if (plan.latency()) {
            return SendRoundTrips.RECEIVES;
        }
        int wanted = plan.depth() * 2;
        int queue = limits.maxReceiveQueue();
        int receives = queue > QUEUE_SLACK ? Math.min(wanted, queue - QUEUE_SLACK) : wanted;
        return Math.min(receives, Math.max(1, limits.maxQueueOutstanding() - QUEUE_SLACK));
    }

    RemoteAddress address() {
        return memory.address();
    }

    /** Returns the number of receives on each data connection of a send test. */
    int receives() {
        return receives;
    }

    /** Accepts a data connection, and starts the server's part of the test on it. */
    synchronized void attach(IncomingConnection request, int index) {
        if (index >= plan.connections()) {
            Server.reject(request, "connection " + index + " of a test with " + plan.connections() + " connections");
            return;
        }
        ConnectionOptions.Builder options = flags.options()
                .privateData(new Hello(Service.PERF_DATA).encode())
                .ird(Math.min(plan.depth(), session.limits().maxIrd()));
        if (plan.operation() == Operation.SEND) {
            options.receiveQueue(receives + QUEUE_SLACK);
            ends.add(Connector.openWithQueue(
                    session,
                    options.build(),
                    queueOptions.withOutstanding(receives + QUEUE_SLACK),
                    (connection, queue) -> begin(connection, queue, index),
                    connection -> connections.add(request.accept(connection))));
            return;
        }
        Connection connection = request.accept(options.build());
        connections.add(connection);
        if (plan.pollsMemory()) {
            WorkQueue queue = session.openQueue(DataEnd.queueOptions(plan, queueOptions.withOutstanding(QUEUE_SLACK)));
            ends.add(begin(connection, queue, index));
        }
    }

    private DataEnd begin(Connection connection, WorkQueue queue, int index) {
        DataEnd end = plan.latency()
                ? DataEnd.roundTrips(queue, connection, memory, peerRegion, queueOptions.waitStrategy(), false)
                : new SendSink(queue, connection, memory, index, receives);
        end.serve();
        end.postReceives();
        end.start();
        return end;
    }

    /** @throws Failure when a connection could not continue */
    synchronized void check() {
        ends.forEach(DataEnd::check);
    }

    /** Stops threads of the data connections. */
    synchronized void stop() {
        ends.forEach(DataEnd::stop);
    }

    /** Waits for messages that were sent. Returns the number of messages that arrived. */
    long awaitReceived(long expected) {
        long end = System.nanoTime() + ARRIVAL_PATIENCE;
        while (received() < expected
                && System.nanoTime() < end
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(ARRIVAL_POLL);
        }
        return received();
    }

    /** Returns the number of messages in memory that differ from the pattern. Latency tests are not checked. */
    long wrongMessages() {
        if (plan.latency() || plan.operation() == Operation.READ) {
            return 0;
        }
        int used = plan.operation() == Operation.SEND ? Math.min(receives, plan.slots()) : plan.slots();
        return memory.countWrong(used);
    }

    @Override
    public synchronized void close() {
        stop();
        ends.forEach(end -> end.queue.close());
        for (Connection connection : connections) {
            try {
                connection.abort();
            } catch (SidewarpException e) {
                // The client has closed it already.
            }
        }
        memory.close();
    }

    private synchronized long received() {
        return ends.stream().mapToLong(DataEnd::messages).sum();
    }
}
