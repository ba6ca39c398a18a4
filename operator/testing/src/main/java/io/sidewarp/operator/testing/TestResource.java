// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A resource that a test has made on this machine and that never outlives the tests: a process, a network namespace, a
 * directory. Resources that still exist when the JVM ends are removed, the newest first. A signal that ends the JVM
 * triggers the removal, too.
 */
public final class TestResource implements AutoCloseable {

    private static final Deque<TestResource> LEFT = new ArrayDeque<>();

    /** Time that processes have to end on request and to remove their own resources. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    private static boolean ending;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(TestResource::takeAllAway, "remains"));
    }

    private final Runnable removal;

    private TestResource(Runnable removal) {
        this.removal = removal;
    }

    /** Registers a resource that exists from now on, or soon. Fails while the JVM ends. */
    public static TestResource of(Runnable removal) {
        TestResource remains = new TestResource(removal);
        synchronized (LEFT) {
            if (!ending) {
                LEFT.addFirst(remains);
                return remains;
            }
        }
        removal.run();
        throw new IllegalStateException("this JVM ends");
    }

    /** Registers a process and its descendants. The removal asks them to end, and kills those that do not. */
    public static TestResource of(Process process) {
        return of(() -> end(process));
    }

    /** Removes the resource unless it is removed already. */
    @Override
    public void close() {
        if (forget()) {
            removal.run();
        }
    }

    /** Records that the resource has gone by itself. Returns false if it was removed or recorded before. */
    public boolean forget() {
        synchronized (LEFT) {
            return LEFT.remove(this);
        }
    }

    private static void takeAllAway() {
        TestResource next = takeLast();
        while (next != null) {
            try {
                next.removal.run();
            } catch (RuntimeException e) {
                System.err.println("cannot take away what a test has made: " + e);
            }
            next = takeLast();
        }
    }

    private static TestResource takeLast() {
        synchronized (LEFT) {
            ending = true;
            return LEFT.pollFirst();
        }
    }

    private static void end(Process process) {
        // Uses handles: unlike {@code Process.destroy}, they keep the output of the process readable.
        List<ProcessHandle> all = new ArrayList<>(List.of(process.toHandle()));
        all.addAll(process.descendants().toList());
        all.forEach(ProcessHandle::destroy);
        try {
            CompletableFuture.allOf(all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
                    .get(GRACE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            all.addAll(process.descendants().toList());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        all.forEach(ProcessHandle::destroyForcibly);
    }
}
