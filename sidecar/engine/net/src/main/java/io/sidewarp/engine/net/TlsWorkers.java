// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads for the slow parts of TLS handshakes: signatures and the verification of certificates. Their number is half
 * of the processors, so that a flood of handshakes leaves time to connections. Threads end after a while without work.
 */
final class TlsWorkers implements AutoCloseable {

    /** Most handshakes that wait for a thread. A connection has at most one task, so this is rarely reached. */
    private static final int QUEUE = 1024;

    private static final long IDLE_SECONDS = 10;

    private final ThreadPoolExecutor threads;

    TlsWorkers() {
        int number = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        threads = new ThreadPoolExecutor(
                number,
                number,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(QUEUE),
                new DefaultThreadFactory("sidewarp-tls", true));
        threads.allowCoreThreadTimeOut(true);
    }

    /** @throws RejectedExecutionException if too many tasks wait */
    void execute(Runnable task) {
        threads.execute(task);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
