// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import io.grpc.StatusRuntimeException;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.ConnectionOptions;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Fuzzes the content of rings under a running sidecar. A round has two connected sessions. They write valid entries,
 * invalid entries and random bytes, truncate files, misuse sockets and end objects. A third pair of sessions, the
 * canary, must continue.
 */
final class RingFuzzer implements Fuzzer {

    private static final int MIN_CHANGES = 20;
    private static final int MORE_CHANGES = 200;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final List<String> COUNTED = List.of(
            "io.sidewarp.service.session.Session",
            "io.sidewarp.service.transfer.CompletionRing",
            "io.sidewarp.service.transfer.WorkRing",
            "io.sidewarp.service.transfer.ConnectionWork");
    /** Objects of one class that the canary has. */
    private static final int MAX_COUNT = 4;

    private final long seed;
    private final TestSidecar sidecar;
    private final Canary canary;
    private final LogWatch log = new LogWatch();
    private long rounds;
    private long changes;
    private long succeeded;

    RingFuzzer(long seed) {
        this.seed = seed;
        sidecar = TestSidecar.start("sidewarp.event-loops", "2");
        canary = new Canary(sidecar);
    }

    @Override
    public long rounds() {
        return rounds;
    }

    /** Returns how many changes were made so far; those of threads that wrote beside count too. */
    @Override
    public long changes() {
        return changes;
    }

    @Override
    public long succeeded() {
        return succeeded;
    }

    /** Runs one round, which depends on its number and the seed alone, but for the moments. */
    @Override
    public void round(long number) {
        try {
            rounds++;
            run(new Random(seed * 0x9E3779B97F4A7C15L + number));
        } catch (RuntimeException | AssertionError e) {
            AssertionError failure =
                    new AssertionError("seed " + seed + ", round " + number + ": " + e.getMessage() + log.text(), e);
            Thread.getAllStackTraces().forEach((thread, stack) -> {
                Throwable where = new Throwable("thread " + thread.getName());
                where.setStackTrace(stack);
                failure.addSuppressed(where);
            });
            throw failure;
        }
    }

    private void run(Random random) {
        Attacker first = new Attacker(sidecar, "first", canary);
        Attacker second = new Attacker(sidecar, "second", canary);
        try {
            TestSession.Pair pair = connect(first, second, random);
            first.meet(second, pair.here().getId(), random);
            second.meet(first, pair.there().getId(), random);
            attack(first, second, random);
            first.checkRegions();
            second.checkRegions();
            if (random.nextInt(3) == 0) {
                first.closeSockets();
            }
            first.closeSession();
            second.closeSession();
            first.awaitCalls();
            second.awaitCalls();
            first.checkRegions();
            second.checkRegions();
        } finally {
            first.close();
            second.close();
        }
        await("sessions are left", () -> sidecar.sidecar().sessions().count() == Canary.sessions());
        await("files of rings are left", () -> ringFiles() == Canary.files());
        canary.check();
        log.check();
    }

    private static TestSession.Pair connect(Attacker first, Attacker second, Random random) {
        ConnectionOptions options = ConnectionOptions.newBuilder()
                .setSendQueue(random.nextInt(3) == 0 ? 2 : 0)
                .build();
        return first.session().connectTo(second.session(), options);
    }

    private void attack(Attacker first, Attacker second, Random random) {
        int count = MIN_CHANGES + random.nextInt(MORE_CHANGES);
        try (Scribbler scribbler = new Scribbler(
                random.nextInt(3) == 0 ? (random.nextBoolean() ? first : second).file(random) : null,
                random.nextLong())) {
            for (int i = 0; i < count; i++) {
                Attacker attacker = random.nextBoolean() ? first : second;
                try {
                    if (random.nextInt(50) == 0 && !first.isClosed() && !second.isClosed()) {
                        TestSession.Pair pair = connect(first, second, random);
                        first.connected(pair.here().getId());
                        second.connected(pair.there().getId());
                    }
                    attacker.change(random);
                } catch (StatusRuntimeException e) {
                    // The session has ended, or its limits are reached.
                }
                changes++;
                if (random.nextInt(16) == 0) {
                    LockSupport.parkNanos(random.nextInt(2_000_000));
                }
            }
            changes += scribbler.changes;
        }
        succeeded += first.succeeded() + second.succeeded();
        canary.check();
    }

    private long ringFiles() {
        String[] names = sidecar.sharedVolume().toFile().list((directory, name) -> name.contains("sidewarp-ring"));
        return names == null ? -1 : names.length;
    }

    private static void await(String otherwise, BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError(otherwise);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    /** Checks that nothing of the sessions that ended is still in memory. */
    @Override
    public void checkMemory() {
        try {
            await("objects of sessions that ended are left: " + COUNTED, () -> LiveObjects.count(COUNTED) <= MAX_COUNT);
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed + ", after " + rounds + " rounds: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        log.close();
        canary.close();
        sidecar.close();
    }

    /** Writes into a file while others use it, if the file exists. */
    private static final class Scribbler implements AutoCloseable {

        private final Thread thread;
        private volatile boolean stopped;
        private volatile long changes;

        Scribbler(@org.jspecify.annotations.Nullable FuzzedFile file, long seed) {
            thread = Thread.ofPlatform().daemon().unstarted(() -> {
                if (file != null) {
                    run(file, new Random(seed));
                }
            });
            thread.start();
        }

        private void run(FuzzedFile file, Random random) {
            long count = 0;
            while (!stopped) {
                Attacker.scribble(file, random);
                changes = ++count;
                if (random.nextInt(50) == 0) {
                    LockSupport.parkNanos(100_000);
                }
            }
        }

        @Override
        public void close() {
            stopped = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
