// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Keeps processes and their resources from outliving this process, even if this process is interrupted or terminated.
 * Resources are directories, control groups and network namespaces.
 */
final class Children {

    private static final long STOP_SECONDS = 5;

    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();
    private static final Map<Object, Removal> THINGS = new ConcurrentHashMap<>();

    private static volatile boolean ending;

    /** Removal of a resource. */
    @FunctionalInterface
    interface Removal {

        void remove() throws IOException;
    }

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Children::endAll));
    }

    private Children() {}

    /** Returns whether this process was told to end. Later failures are then consequences of the end. */
    static boolean areEnding() {
        return ending;
    }

    /**
     * Starts a process.
     *
     * @throws Failure if this process is ending, since nothing would end the new process
     */
    static Process start(ProcessBuilder builder) throws IOException {
        if (ending) {
            throw Failure.interrupted();
        }
        Process process = builder.start();
        RUNNING.add(process);
        process.onExit().thenAccept(RUNNING::remove);
        if (ending) {
            // The shutdown hook may have looked at the list before this process was added.
            process.destroyForcibly();
            throw Failure.interrupted();
        }
        return process;
    }

    /** Waits until a process has ended that was asked to end. Kills the process after a time, or when interrupted. */
    static void awaitEnd(Process process, long seconds) {
        boolean interrupted = Thread.interrupted();
        try {
            if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Registers a resource for removal at the end of this process, unless it is removed earlier. */
    static void adopt(Object thing, Removal removal) {
        THINGS.put(thing, removal);
    }

    /** Removes a resource. A failed removal is retried at the end of this process. */
    static void remove(Object thing) throws IOException {
        Removal removal = THINGS.get(thing);
        if (removal != null) {
            removal.remove();
            THINGS.remove(thing);
        }
    }

    /**
     * Keeps a resource from being removed. Has no effect while this process is ending, since later failures are
     * consequences of the end.
     */
    static void forget(Object thing) {
        if (!ending) {
            THINGS.remove(thing);
        }
    }

    private static void endAll() {
        ending = true;
        RUNNING.forEach(Process::destroy);
        for (Process process : RUNNING) {
            awaitEnd(process, STOP_SECONDS);
        }
        for (Object thing : THINGS.keySet()) {
            try {
                remove(thing);
            } catch (IOException | RuntimeException e) {
                System.err.println("cannot remove " + thing + ": " + e.getMessage());
            }
        }
    }
}
