// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.client.CompletionHandler;
import io.sidewarp.client.CompletionTaker;
import io.sidewarp.client.CompletionView;
import io.sidewarp.client.Connection;
import io.sidewarp.client.QueueOptions;
import io.sidewarp.client.QueuePath;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WaitStrategy;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The work at one end of a data connection. Takes the completions of its queue: on a thread that polls the queue, or
 * over gRPC on the client's event loop. Counts all messages, and records their latencies while recording is on.
 */
abstract class DataEnd implements CompletionHandler, CompletionTaker {

    private static final int BATCH = 64;
    private static final Duration FOREVER = Duration.ofDays(365);

    final WorkQueue queue;
    private final AtomicLong published = new AtomicLong();
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private final Histogram latencies = new Histogram();
    private volatile boolean recording;
    private volatile boolean stopping;
    private long counted;

    DataEnd(WorkQueue queue) {
        this.queue = queue;
    }

    /**
     * Returns an end of a latency test of RDMA Writes or Sends.
     *
     * @param peer address of the peer's memory
     * @param first whether this end sends first, and measures
     */
    static DataEnd roundTrips(
            WorkQueue queue,
            Connection connection,
            PerfMemory memory,
            RemoteAddress peer,
            WaitStrategy strategy,
            boolean first) {
        Sge incoming = memory.slot(0, 0);
        Sge outgoing = memory.slot(0, 1);
        if (memory.plan().operation() == Operation.SEND) {
            return new SendRoundTrips(
                    queue, WorkRequest.send(connection, outgoing), WorkRequest.receive(connection, incoming), first);
        }
        RemoteAddress target = peer.plus(memory.plan().slotOffset(0, 0));
        return new WriteRoundTrips(
                queue,
                WorkRequest.write(connection, target, outgoing).unsignaled(),
                new LatencySlots(memory.region(), incoming, outgoing, strategy),
                first);
    }

    /**
     * Returns options for a queue of a test. Beside memory that is polled, the thread of the queue sleeps, because its
     * completions report only failures.
     */
    static QueueOptions queueOptions(PerfPlan plan, QueueOptions options) {
        return plan.pollsMemory() ? options.withWaitStrategy(WaitStrategy.SLEEP) : options;
    }

    /** Posts the receives for the first messages of the peer. */
    void postReceives() {}

    /** Takes the completions of the queue until it ends. */
    final void serve() {
        if (queue.path() == QueuePath.RINGS) {
            Thread.ofPlatform().daemon().name("sidewarp-perf-poll").start(this::poll);
        } else {
            queue.onCompletion(this);
        }
    }

    /** Posts the first messages, if this end sends first, and returns at once. */
    void start() {}

    /** Stops posting. */
    void stop() {
        stopping = true;
    }

    final boolean isStopping() {
        return stopping;
    }

    /** Completes when nothing is in flight after {@link #stop()}, or fails. */
    final CompletableFuture<Void> finished() {
        return finished;
    }

    /** @throws Failure when this end could not continue */
    final void check() {
        if (finished.isCompletedExceptionally()) {
            throw Failures.of(finished.exceptionNow());
        }
    }

    /** Returns the number of complete messages. Any thread. */
    final long messages() {
        return published.get();
    }

    final void record(boolean on) {
        recording = on;
    }

    /** Returns latencies in nanoseconds. Read them only after this end has finished. */
    final Histogram latencies() {
        return latencies;
    }

    /** Handles successful work with this ID. Called on one thread at a time. */
    abstract void completed(long id);

    /** Posts a request if there is a credit. Without a credit, the test fails. */
    final void post(long id, WorkRequest request) {
        if (!queue.tryPost(id, request)) {
            fail(noCredit());
        }
    }

    final Failure noCredit() {
        return new Failure(
                ExitCode.NO_RESOURCES,
                "the sidecar grants " + queue.credits()
                        + " work requests at a time (its setting sidewarp.limits.queue-outstanding): raise it, or use"
                        + " a lower --depth");
    }

    /** Counts complete messages. Called on one thread at a time. */
    final void count(int messages) {
        counted += messages;
        published.lazySet(counted);
    }

    /** Counts complete messages. {@code nanos} is the latency of the last one. */
    final void count(int messages, long nanos) {
        count(messages);
        if (recording) {
            latencies.record(nanos);
        }
    }

    final void finish() {
        finished.complete(null);
    }

    /** Fails the test. Only the first failure counts. */
    void fail(Throwable cause) {
        finished.completeExceptionally(cause);
    }

    @Override
    public final void onCompletion(WorkCompletion completion) {
        if (completion.isSuccess()) {
            completed(completion.id());
        } else {
            fail(new Failure(ExitCode.FAILED, "the test failed: " + completion));
        }
    }

    @Override
    public final void onCompletion(CompletionView completion) {
        if (completion.isSuccess()) {
            completed(completion.id());
        } else {
            onCompletion(completion.toCompletion());
        }
    }

    @Override
    public final void onFailure(SidewarpException cause) {
        fail(cause);
    }

    private void poll() {
        try {
            while (true) {
                queue.poll(this, BATCH, FOREVER);
            }
        } catch (SidewarpException e) {
            fail(e);
        } catch (RuntimeException | Error e) {
            fail(e);
            queue.close();
        }
    }
}
