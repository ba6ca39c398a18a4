// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.Failure;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Pattern;
import io.sidewarp.cli.wire.ReceivesFirst;
import io.sidewarp.cli.wire.RegionNames;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.SessionLimits;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
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
    private final SharedRegion region;
    private final int receives;

    /** Guarded by this. */
    private final List<Connection> connections = new ArrayList<>();

    /** Guarded by this. */
    private final List<WorkQueue> queues = new ArrayList<>();

    /** Guarded by this. */
    private final List<DataEnd> ends = new ArrayList<>();

    PerfTest(Session session, ConnectionFlags flags, PerfMessage.Setup setup, QueueOptions queueOptions) {
        this.session = session;
        this.flags = flags;
        this.queueOptions = queueOptions;
        plan = setup.plan();
        peerRegion = setup.region();
        receives = receives(plan, session.limits());
        region = session.createSharedRegion(
                RegionNames.next("perf"),
                plan.regionLength(),
                Access.LOCAL_WRITE,
                Access.REMOTE_READ,
                Access.REMOTE_WRITE);
        if (plan.operation() == Operation.READ) {
            fill(region, plan);
        }
    }

    /** Writes the pattern into each slot of each connection. */
    static void fill(SharedRegion region, PerfPlan plan) {
        for (int connection = 0; connection < plan.connections(); connection++) {
            for (int slot = 0; slot < plan.slots(); slot++) {
                Pattern.fill(region.segment().asSlice(plan.slotOffset(connection, slot), plan.size()), plan.seed());
            }
        }
    }

    /**
     * Returns the number of slots that do not hold the pattern.
     *
     * @param slots number of slots to check on each connection
     */
    static long countWrong(SharedRegion region, PerfPlan plan, int slots) {
        long wrong = 0;
        for (int connection = 0; connection < plan.connections(); connection++) {
            for (int slot = 0; slot < slots; slot++) {
                long offset = plan.slotOffset(connection, slot);
                if (Pattern.firstDifference(region.segment().asSlice(offset, plan.size()), plan.seed()) >= 0) {
                    wrong++;
                }
            }
        }
        return wrong;
    }

    /**
     * Returns twice the depth, so that the sender does not wait for credits. Limits of the sidecar may make it less.
     */
    static int receives(PerfPlan plan, SessionLimits limits) {
        if (plan.latency()) {
            return SendPingPong.RECEIVES;
        }
        int wanted = plan.depth() * 2;
        int queue = limits.maxReceiveQueue();
        int receives = queue > QUEUE_SLACK ? Math.min(wanted, queue - QUEUE_SLACK) : wanted;
        return Math.min(receives, Math.max(1, limits.maxQueueOutstanding() - QUEUE_SLACK));
    }

    RemoteAddress address() {
        return region.address();
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
        boolean send = plan.operation() == Operation.SEND;
        ConnectionOptions.Builder options = flags.options()
                .privateData(new Hello(Service.PERF_DATA).encode())
                .ird(Math.min(plan.depth(), session.limits().maxIrd()));
        if (send) {
            options.receiveQueue(receives + QUEUE_SLACK);
        }
        if (send) {
            add(ReceivesFirst.open(
                    session,
                    options.build(),
                    queueOptions.withOutstanding(receives + QUEUE_SLACK),
                    (connection, queue) -> begin(connection, queue, index),
                    connection -> connections.add(request.accept(connection))));
            return;
        }
        Connection connection = request.accept(options.build());
        connections.add(connection);
        if (plan.latency() && plan.operation() == Operation.WRITE) {
            add(begin(
                    connection,
                    session.openQueue(WatchedMemory.queueOptions(queueOptions.withOutstanding(QUEUE_SLACK))),
                    index));
        }
    }

    private DataEnd begin(Connection connection, WorkQueue queue, int index) {
        DataEnd end = endOf(queue, connection, index);
        end.serve(queue);
        end.postReceives();
        return end;
    }

    private void add(DataEnd end) {
        queues.add(end.queue);
        ends.add(end);
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
        return countWrong(region, plan, used);
    }

    @Override
    public synchronized void close() {
        stop();
        queues.forEach(WorkQueue::close);
        for (Connection connection : connections) {
            try {
                connection.abort();
            } catch (SidewarpException e) {
                // The client has closed it already.
            }
        }
        region.close();
    }

    private synchronized long received() {
        return ends.stream().mapToLong(DataEnd::received).sum();
    }

    private DataEnd endOf(WorkQueue queue, Connection connection, int index) {
        if (!plan.latency()) {
            return new DataEnd.SendSink(queue, connection, region, plan, index, receives);
        }
        var outgoing = region.slice(plan.slotOffset(0, 1), plan.size());
        if (plan.operation() == Operation.SEND) {
            var incoming = region.slice(plan.slotOffset(0, 0), plan.size());
            return new DataEnd.SendEcho(
                    queue, WorkRequest.receive(connection, incoming), WorkRequest.send(connection, outgoing));
        }
        RemoteAddress target = peerRegion.plus(plan.slotOffset(0, 0));
        return new DataEnd.WriteEcho(
                queue,
                WorkRequest.write(connection, target, outgoing).unsignaled(),
                new WatchedMemory(region, plan, queueOptions.waitStrategy()));
    }
}
