// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Runs programs, mostly in Java, that make parts of images. They do not outlive this process. */
final class JavaProgram {
    /** Environment variables from which a JVM or the build of the verbs library reads options. */
    private static final Set<String> OPTIONS =
            Set.of("_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "CFLAGS");

    private static final long END_SECONDS = 10;

    private static final List<Process> STARTED = new ArrayList<>();
    private static boolean ending;

    private JavaProgram() {}

    /**
     * Returns a builder for a program. Only options of the command take effect, since images must not depend on the
     * environment.
     */
    static ProcessBuilder builder(List<String> command, Path directory) {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeAll(OPTIONS);
        return builder;
    }

    static Process start(ProcessBuilder builder) throws IOException {
        synchronized (STARTED) {
            if (ending) {
                throw new ImageException("interrupted");
            }
            Process process = builder.start();
            STARTED.add(process);
            return process;
        }
    }

    /** Ends all running programs, and prevents further starts. */
    static void endAll() {
        synchronized (STARTED) {
            ending = true;
            try {
                for (Process process : STARTED) {
                    process.destroyForcibly().waitFor(END_SECONDS, TimeUnit.SECONDS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static boolean isEnding() {
        synchronized (STARTED) {
            return ending;
        }
    }

    /**
     * Runs a program to its end.
     *
     * @param failure beginning of the error message, before the output of the program
     */
    static void run(List<String> command, Path directory, String failure) {
        try {
            Process process = start(builder(command, directory));
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new ImageException(failure + ": " + output.strip());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + command.getFirst(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ImageException("interrupted", e);
        }
    }
}
