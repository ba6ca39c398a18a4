// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.perf.Histogram;
import io.sidewarp.cli.perf.LatencySlots;
import io.sidewarp.cli.perf.Operation;
import io.sidewarp.client.Connection;
import io.sidewarp.client.Opcode;
import io.sidewarp.client.Session;
import io.sidewarp.client.WaitStrategy;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.time.Duration;
import java.util.List;

/** Moves the data of a test over its connections. */
final class DataPhase {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final PerftestPlan plan;
    private final Buffers buffers;
    private final List<Connection> connections;
    private final WorkQueue queue;
    private final Histogram latencies = new Histogram();

    DataPhase(PerftestPlan plan, Buffers buffers, List<Connection> connections, WorkQueue queue) {
        this.plan = plan;
        this.buffers = buffers;
        this.connections = connections;
        this.queue = queue;
    }

    /** Opens the queue for the work of all connections, including receives. */
    static WorkQueue openQueue(Session session, PerftestPlan plan) {
        long wanted = (long) plan.connections() * Math.max(plan.depth(), plan.receives());
        return session.openQueue(Math.clamp(wanted, 1, session.limits().maxQueueOutstanding()));
    }

    /** Returns the latencies of single messages: from posting to completion, or half of the round trip. */
    Histogram latencies() {
        return latencies;
    }

    /**
     * Runs the client of a throughput test: sends the planned number of messages as fast as possible. Writes may arrive
     * later than this returns (RFC 5040 section 5.5 rule 9).
     */
    void stream(List<Destination> peers) {
        int slots = plan.depth() * connections.size();
        if (slots > queue.credits()) {
            throw new Failure(
                    ExitCode.NO_RESOURCES,
                    "the sidecar grants " + queue.credits() + " work requests at a time: use a lower --depth");
        }
        Stream stream = new Stream(peers, slots);
        for (int slot = 0; slot < slots; slot++) {
            stream.post(slot);
        }
        for (long completed = 0; completed < plan.messages(); completed++) {
            stream.completed((int) next().id());
        }
    }

    /** Messages in flight, each in a slot that belongs to one connection. */
    private final class Stream {

        private final WorkRequest[] requests;
        private final int[] left;
        private final long[] postedAt;
        private final SendCredits credits = new SendCredits(plan, buffers);

        Stream(List<Destination> peers, int slots) {
            requests = new WorkRequest[peers.size()];
            left = new int[requests.length];
            for (int i = 0; i < requests.length; i++) {
                requests[i] = request(i, peers.get(i));
                left[i] = plan.iterations();
            }
            postedAt = new long[slots];
        }

        void post(int slot) {
            int connection = slot % requests.length;
            if (left[connection] > 0) {
                if (plan.kind().operation == Operation.SEND) {
                    credits.await(connection, plan.iterations() - left[connection], PATIENCE);
                }
                left[connection]--;
                postedAt[slot] = System.nanoTime();
                queue.post(slot, requests[connection]);
            }
        }

        void completed(int slot) {
            latencies.record(System.nanoTime() - postedAt[slot]);
            post(slot);
        }
    }

    /**
     * Runs the server of Sends. Takes the planned number of messages, and reports their number to the client by RDMA
     * Writes.
     */
    void receive(List<Destination> peers) {
        SendCredits credits = new SendCredits(plan, buffers);
        for (long completed = 0; completed < plan.messages(); ) {
            WorkCompletion completion = next();
            if (completion.opcode() == Opcode.RECEIVE) {
                completed++;
                received(completion, credits, peers);
            }
        }
    }

    private void received(WorkCompletion completion, SendCredits credits, List<Destination> peers) {
        if (completion.length() != plan.size()) {
            throw new Failure(
                    ExitCode.PROTOCOL,
                    "a message has " + completion.length() + " bytes instead of " + plan.size()
                            + ": give both sides the same --size");
        }
        int index = (int) completion.id();
        credits.received(index)
                .ifPresent(credit -> queue.post(
                        index,
                        WorkRequest.write(
                                connections.get(index), peers.get(index).address(), credit)));
    }

    /**
     * Runs either side of a latency test.
     *
     * @param first whether this side sends first
     */
    void pingPong(Destination peer, boolean first) {
        LatencySlots slots =
                new LatencySlots(buffers.region(), buffers.offeredSlice(0), buffers.ownSlice(0), WaitStrategy.ADAPTIVE);
        WorkRequest write = request(0, peer);
        long start = System.nanoTime();
        for (int i = 1; i <= plan.iterations(); i++) {
            byte sequence = (byte) i;
            if (first) {
                send(slots, sequence, write);
            }
            await(slots, sequence);
            if (!first) {
                send(slots, sequence, write);
            }
            long now = System.nanoTime();
            latencies.record((now - start) / 2);
            start = now;
        }
    }

    private void send(LatencySlots slots, byte sequence, WorkRequest write) {
        slots.prepare(sequence);
        queue.post(sequence, write);
        next();
    }

    private static void await(LatencySlots slots, byte sequence) {
        try {
            if (!slots.await(sequence, PATIENCE)) {
                throw new Failure(
                        ExitCode.TEMPORARY,
                        "the peer wrote nothing for " + PATIENCE.toSeconds()
                                + " seconds; if a sidecar is the server, the client needs --peer-to-peer");
            }
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        }
    }

    private WorkRequest request(int index, Destination peer) {
        Connection connection = connections.get(index);
        return switch (plan.kind().operation) {
            case WRITE -> WorkRequest.write(connection, peer.address(), buffers.ownSlice(index));
            case READ -> WorkRequest.read(connection, peer.address(), buffers.ownSlice(index));
            case SEND -> WorkRequest.send(connection, buffers.ownSlice(index));
        };
    }

    private WorkCompletion next() {
        return queue.poll(PATIENCE)
                .orElseThrow(
                        () -> new Failure(ExitCode.TEMPORARY, "no progress for " + PATIENCE.toSeconds() + " seconds"))
                .orThrow();
    }
}
