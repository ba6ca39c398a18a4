// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Processes, directories and control groups that do not outlive this process, also when it is interrupted or terminated. */
final class Children {

    private static final long STOP_SECONDS = 5;

    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();
    private static final Set<Path> DIRECTORIES = ConcurrentHashMap.newKeySet();
    private static final Set<Path> GROUPS = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Children::endAll));
    }

    private Children() {}

    static Process start(ProcessBuilder builder) throws IOException {
        Process process = builder.start();
        RUNNING.add(process);
        process.onExit().thenAccept(RUNNING::remove);
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

    /** Takes care of a directory in which processes work. */
    static void adopt(Path directory) {
        DIRECTORIES.add(directory);
    }

    /** Deletes such a directory. */
    static void delete(Path directory) throws IOException {
        DIRECTORIES.remove(directory);
        Trees.delete(directory);
    }

    /** Takes care of a control group in which processes run. */
    static void adoptGroup(Path group) {
        GROUPS.add(group);
    }

    /** Removes such a group; its files go with it. */
    static void removeGroup(Path group) throws IOException {
        Files.deleteIfExists(group);
        GROUPS.remove(group);
    }

    private static void endAll() {
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
        for (Path directory : DIRECTORIES) {
            try {
                delete(directory);
            } catch (IOException e) {
                System.err.println("cannot remove " + directory + ": " + e.getMessage());
            }
        }
        for (Path group : GROUPS) {
            try {
                removeGroup(group);
            } catch (IOException e) {
                System.err.println("cannot remove " + group + ": " + e.getMessage());
            }
        }
    }
}
