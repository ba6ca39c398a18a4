// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.wire.ReceivesFirst;
import io.sidewarp.client.Connection;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The server's work on a data connection. Throughput tests of RDMA Write and Read need none. */
abstract class DataEnd extends QueueUser {

    final WorkQueue queue;
    private final AtomicLong published = new AtomicLong();
    private volatile @Nullable Failure failure;
    private long count;

    DataEnd(WorkQueue queue) {
        this.queue = queue;
    }

    /** Returns the number of messages that reached a receive. */
    long received() {
        return published.get();
    }

    /** Posts the receives for the first messages. */
    void postReceives() {}

    /** Stops threads of this object. */
    void stop() {}

    @Override
    void failed(WorkCompletion completion) {
        // The client reports the problem of the connection.
    }

    /** @throws Failure when the sidecar granted too few credits to continue */
    void check() {
        Failure known = failure;
        if (known != null) {
            throw known;
        }
    }

    /** Posts a request if there is a credit. Without a credit, {@link #check} fails. */
    void post(long id, WorkRequest request) {
        if (!queue.tryPost(id, request)) {
            failure = new Failure(
                    ExitCode.NO_RESOURCES,
                    "the sidecar grants " + queue.credits()
                            + " work requests at a time (its setting sidewarp.limits.queue-outstanding): raise it, or use"
                            + " a lower --depth");
        }
    }

    void count() {
        count++;
        published.lazySet(count);
    }

    /** Takes Sends as fast as they come, and tells the sender how much room there is. */
    static final class SendSink extends DataEnd {

        private static final long CREDIT_ID = 1L << 40;

        private final WorkRequest[] receives;
        private final WorkRequest[] creditSends = new WorkRequest[PerfPlan.CREDIT_SLOTS];
        private final SharedRegion region;
        private final long tail;
        private final int period;
        private int nextCredit;

        SendSink(
                WorkQueue queue,
                Connection connection,
                SharedRegion region,
                PerfPlan plan,
                int index,
                int receiveCount) {
            super(queue);
            this.region = region;
            tail = plan.tailOffset(index) + PerfPlan.CREDIT_OFFSET;
            receives = new WorkRequest[receiveCount];
            for (int i = 0; i < receiveCount; i++) {
                receives[i] = WorkRequest.receive(connection, slice(region, plan, index, i));
            }
            for (int slot = 0; slot < creditSends.length; slot++) {
                creditSends[slot] =
                        WorkRequest.send(connection, region.slice(creditOffset(slot), PerfPlan.CREDIT_LENGTH));
            }
            period = Math.max(1, receiveCount / 4);
        }

        @Override
        void postReceives() {
            queue.batch(_ -> {
                for (int i = 0; i < receives.length; i++) {
                    ReceivesFirst.post(queue, i, receives[i]);
                }
            });
        }

        @Override
        void completed(long id) {
            if (id >= CREDIT_ID) {
                return;
            }
            count();
            post(id, receives[(int) id]);
            if (received() % period == 0) {
                int slot = nextCredit;
                nextCredit = (slot + 1) % creditSends.length;
                region.buffer(creditOffset(slot), PerfPlan.CREDIT_LENGTH).putLong(received() + receives.length);
                post(CREDIT_ID + slot, creditSends[slot]);
            }
        }

        private long creditOffset(int slot) {
            return tail + (long) slot * PerfPlan.CREDIT_LENGTH;
        }

        private static Sge slice(SharedRegion region, PerfPlan plan, int index, int message) {
            return region.slice(plan.slotOffset(index, message), plan.size());
        }
    }

    /** Answers each Send with a Send. */
    static final class SendEcho extends DataEnd {

        private final WorkRequest receive;
        private final WorkRequest send;

        SendEcho(WorkQueue queue, WorkRequest receive, WorkRequest send) {
            super(queue);
            this.receive = receive;
            this.send = send;
        }

        @Override
        void postReceives() {
            SendPingPong.postReceives(queue, receive);
        }

        @Override
        void completed(long id) {
            if (id == SendPingPong.RECEIVE_ID) {
                count();
                post(SendPingPong.RECEIVE_ID, receive);
                post(SendPingPong.SEND_ID, send);
            }
        }
    }

    /** Answers each RDMA Write with an RDMA Write. */
    static final class WriteEcho extends DataEnd {

        private final WorkRequest write;
        private final WatchedMemory memory;
        private final Thread thread = new Thread(this::run, "sidewarp-perf-echo");

        WriteEcho(WorkQueue queue, WorkRequest write, WatchedMemory memory) {
            super(queue);
            this.write = write;
            this.memory = memory;
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        void completed(long id) {}

        @Override
        void failed(WorkCompletion completion) {
            thread.interrupt();
        }

        @Override
        void stop() {
            thread.interrupt();
            boolean interrupted = false;
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        private void run() {
            byte sequence = 0;
            try {
                while (true) {
                    sequence++;
                    memory.await(sequence);
                    memory.prepare(sequence);
                    queue.post(sequence, write);
                    count();
                }
            } catch (InterruptedException | RuntimeException e) {
                // The test or its connection has ended. The client reports which.
            }
        }
    }
}
