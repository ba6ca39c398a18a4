// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program of the control plane. The program writes to a log, and never outlives the tests. */
final class ServerProcess {

    /** Maximum time from SIGKILL until the kernel has removed the process. */
    private static final Duration END_LIMIT = Duration.ofSeconds(30);

    private static final int TAIL_LINES = 30;

    private final Process process;
    private final TestResource remains;
    private final Path log;

    private ServerProcess(Process process, Path log) {
        this.process = process;
        this.remains = TestResource.of(process::destroyForcibly);
        this.log = log;
    }

    /** Starts a program. The log has the name of the program. */
    static ServerProcess start(List<String> command, Path directory, Path logs) {
        Path log = logs.resolve(Path.of(command.getFirst()).getFileName() + ".log");
        try {
            Process process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(Redirect.appendTo(log.toFile()))
                    .start();
            return new ServerProcess(process, log);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command.getFirst(), e);
        }
    }

    ProcessHandle handle() {
        return process.toHandle();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Ends the program with SIGKILL: its memory is lost, and connections to it break. */
    void kill() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("process " + process.pid() + " does not end; its log: " + log);
            }
            remains.forget();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Returns the last lines of the log. */
    String tail() {
        try {
            List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            return log + (isAlive() ? "" : " (ended with status " + process.exitValue() + ")") + ":\n"
                    + String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
        } catch (IOException e) {
            return log + " cannot be read: " + e;
        }
    }
}
