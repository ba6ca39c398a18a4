// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.client.WorkCompletion;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps one data connection busy, at the client's side of a test. Counts all messages, and records their latencies
 * while recording is on.
 */
abstract class Driver extends QueueUser {

    private final AtomicLong published = new AtomicLong();
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private final Histogram latencies = new Histogram();
    private volatile boolean recording;
    private volatile boolean stopping;
    private long completed;

    /** Posts the first messages and returns at once. */
    abstract void start();

    /** Stops posting. */
    void stop() {
        stopping = true;
    }

    /** Completes when nothing is in flight after {@link #stop()}, or fails. */
    CompletableFuture<Void> finished() {
        return finished;
    }

    /** Returns the number of complete messages. Any thread. */
    long messages() {
        return published.get();
    }

    void record(boolean on) {
        recording = on;
    }

    /** Returns latencies in nanoseconds. Read them only after the driver has finished. */
    Histogram latencies() {
        return latencies;
    }

    boolean isStopping() {
        return stopping;
    }

    /** Counts complete messages. {@code nanos} is the latency of the last one. Called on one thread at a time. */
    void count(int messages, long nanos) {
        completed += messages;
        published.lazySet(completed);
        if (recording) {
            latencies.record(nanos);
        }
    }

    void finish() {
        finished.complete(null);
    }

    /** Fails the test. Only the first failure counts. */
    void fail(Throwable cause) {
        finished.completeExceptionally(cause);
    }

    @Override
    final void failed(WorkCompletion completion) {
        fail(new Failure(ExitCode.FAILED, "the test failed: " + completion));
    }

    @Override
    final void broken(Throwable cause) {
        fail(cause);
    }
}
