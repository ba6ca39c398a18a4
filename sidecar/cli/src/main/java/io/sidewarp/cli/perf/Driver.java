// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.client.WorkCompletion;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps one data connection busy, at the client's side of a test. It counts messages all the time, and records their
 * latencies while it is told to.
 */
abstract class Driver extends QueueUser {

    private final AtomicLong published = new AtomicLong();
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private final Histogram latencies = new Histogram();
    private volatile boolean recording;
    private volatile boolean stopping;
    private long completed;

    /** Posts the first messages; returns at once. */
    abstract void start();

    /** Posts no more. */
    void stop() {
        stopping = true;
    }

    /** Completes when nothing is under way after {@link #stop()}, or fails. */
    CompletableFuture<Void> finished() {
        return finished;
    }

    /** Messages that are complete; from any thread. */
    long messages() {
        return published.get();
    }

    void record(boolean on) {
        recording = on;
    }

    /** Latencies in nanoseconds; to be read when the driver has finished. */
    Histogram latencies() {
        return latencies;
    }

    boolean isStopping() {
        return stopping;
    }

    /** Counts complete messages, the last of which took so long; on one thread at a time. */
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

    /** Fails the test, once. */
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
