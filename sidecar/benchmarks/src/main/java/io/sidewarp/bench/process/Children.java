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
 * Processes, and things of theirs such as directories, control groups and network namespaces, that do not outlive this
 * process, also when it is interrupted or terminated.
 */
final class Children {

    private static final long STOP_SECONDS = 5;

    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();
    private static final Map<Object, Removal> THINGS = new ConcurrentHashMap<>();

    private static volatile boolean ending;

    /** How to remove something. */
    @FunctionalInterface
    interface Removal {

        void remove() throws IOException;
    }

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Children::endAll));
    }

    private Children() {}

    /** Whether this process was told to end, so that what fails from now on fails because of that. */
    static boolean areEnding() {
        return ending;
    }

    /** @throws Failure when this process is ending: nobody would end that one */
    static Process start(ProcessBuilder builder) throws IOException {
        if (ending) {
            throw Failure.interrupted();
        }
        Process process = builder.start();
        RUNNING.add(process);
        process.onExit().thenAccept(RUNNING::remove);
        if (ending) {
            // What ends all may have looked before.
            process.destroyForcibly();
            throw Failure.interrupted();
        }
        return process;
    }

    /** Waits until a process that was asked to end has ended; after a time, or when interrupted, it is killed. */
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

    /** Takes care of something that is there until it is removed, or until this process ends. */
    static void adopt(Object thing, Removal removal) {
        THINGS.put(thing, removal);
    }

    /** Removes such a thing; when that fails, it is tried again at the end of this process. */
    static void remove(Object thing) throws IOException {
        Removal removal = THINGS.get(thing);
        if (removal != null) {
            removal.remove();
            THINGS.remove(thing);
        }
    }

    /** Such a thing is to stay; not when this process is ending, since what fails then fails because of that. */
    static void forget(Object thing) {
        if (!ending) {
            THINGS.remove(thing);
        }
    }

    private static void endAll() {
        ending = true;
        RUNNING.forEach(Process::destroy);
        for (Process process : RUNNING) {
            try {
                if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                process.destroyForcibly();
            }
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
