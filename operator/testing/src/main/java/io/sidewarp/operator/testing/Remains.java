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
 * Something that a test has made on this machine and that never outlives the tests: a process, a network namespace, a
 * directory. What is still there when the JVM ends, also when a signal ends it, is taken away then, what came last at first.
 */
public final class Remains implements AutoCloseable {

    private static final Deque<Remains> LEFT = new ArrayDeque<>();

    /** For processes that were asked to end, and for what they take away themselves. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    private static boolean ending;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Remains::takeAllAway, "remains"));
    }

    private final Runnable removal;

    private Remains(Runnable removal) {
        this.removal = removal;
    }

    /** Something that is there from now on, or soon. Nothing can begin while the JVM ends. */
    public static Remains of(Runnable removal) {
        Remains remains = new Remains(removal);
        synchronized (LEFT) {
            if (!ending) {
                LEFT.addFirst(remains);
                return remains;
            }
        }
        removal.run();
        throw new IllegalStateException("this JVM ends");
    }

    /** A process and all that it starts: they are asked to end, and killed when they do not. */
    public static Remains of(Process process) {
        return of(() -> end(process));
    }

    /** Takes it away, unless that has been done. */
    @Override
    public void close() {
        if (forget()) {
            removal.run();
        }
    }

    /** It has gone by itself. False if that was known. */
    public boolean forget() {
        synchronized (LEFT) {
            return LEFT.remove(this);
        }
    }

    private static void takeAllAway() {
        Remains next = takeLast();
        while (next != null) {
            try {
                next.removal.run();
            } catch (RuntimeException e) {
                System.err.println("cannot take away what a test has made: " + e);
            }
            next = takeLast();
        }
    }

    private static Remains takeLast() {
        synchronized (LEFT) {
            ending = true;
            return LEFT.pollFirst();
        }
    }

    private static void end(Process process) {
        // Unlike those of the process, the methods of its handle leave its output to be read.
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
