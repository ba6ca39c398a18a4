// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.ping;

import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.perf.Histogram;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/**
 * Connections that ping at the same time. They are opened one after the other, because rping has a backlog of three.
 */
final class Pingers implements AutoCloseable {

    private final List<Pinger> pingers = new ArrayList<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    Pingers(int connections, Supplier<Pinger> opener) {
        try {
            for (int i = 0; i < connections; i++) {
                pingers.add(opener.get());
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    Pinger first() {
        return pingers.getFirst();
    }

    /**
     * Runs one round on all connections.
     *
     * @param times records the nanoseconds of each connection
     * @return nanoseconds of the slowest
     * @throws Failure when a connection fails; the times of others may be recorded
     */
    long round(int round, Histogram times) {
        List<Callable<Long>> rounds = new ArrayList<>();
        pingers.forEach(pinger -> rounds.add(() -> pinger.round(round)));
        try {
            long slowest = 0;
            for (Future<Long> one : threads.invokeAll(rounds)) {
                long nanos = one.get();
                times.record(nanos);
                slowest = Math.max(slowest, nanos);
            }
            return slowest;
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        } catch (ExecutionException e) {
            throw Failures.of(e);
        }
    }

    @Override
    public void close() {
        threads.close();
        pingers.forEach(Pinger::close);
    }
}
