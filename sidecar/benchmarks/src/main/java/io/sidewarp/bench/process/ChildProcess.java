// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process whose output goes to a file. Closing this object ends the process: by SIGTERM, and after a timeout by
 * SIGKILL.
 */
final class ChildProcess implements AutoCloseable {

    private static final Duration RUN_PATIENCE = Duration.ofSeconds(60);
    private static final long STOP_SECONDS = 15;
    private static final long POLL_NANOS = 1_000_000;

    private final String name;
    private final Process process;
    private final Path log;

    private ChildProcess(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
    }

    /**
     * Starts a process.
     *
     * @param environment variables in addition to those of this process
     */
    static ChildProcess start(String name, List<String> command, Map<String, String> environment, Path log) {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        try {
            return new ChildProcess(name, Children.start(builder), log);
        } catch (IOException e) {
            throw new Failure(ExitCode.FAILED, name + " could not be started: " + e.getMessage(), e);
        }
    }

    /**
     * Runs a program that ends by itself, within a minute and with success.
     *
     * @param hint requirements of the command, for people whose machine lacks them
     * @return output of the command
     */
    static String run(String hint, List<String> command) {
        try {
            Path log = Files.createTempFile("sidewarp-bench-", ".log");
            try (ChildProcess process = start(String.join(" ", command), command, Map.of(), log)) {
                return process.awaitSuccess(RUN_PATIENCE);
            } catch (Failure e) {
                throw new Failure(e.exitCode(), String.valueOf(e.getMessage()).strip() + " (" + hint + ")", e);
            } finally {
                Files.deleteIfExists(log);
            }
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot create a temporary file: " + e.getMessage(), e);
        }
    }

    long pid() {
        return process.pid();
    }

    /** Returns the first line that contains a text. Fails if no such line comes in time. */
    String awaitLine(String text, Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        while (true) {
            boolean alive = process.isAlive();
            Optional<String> line =
                    output().lines().filter(each -> each.contains(text)).findFirst();
            if (line.isPresent()) {
                return line.get();
            }
            if (!alive || System.nanoTime() > deadline || Thread.currentThread().isInterrupted()) {
                throw failure("did not say \"" + text + "\" within " + patience.toSeconds() + " s");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** Returns the whole output after the process has ended. Fails unless it ends by itself, with success and in time. */
    private String awaitSuccess(Duration patience) {
        try {
            if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                throw failure("did not end within " + patience.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        }
        if (process.exitValue() != 0) {
            throw failure("failed with exit code " + process.exitValue());
        }
        return output();
    }

    private String output() {
        try {
            return Files.readString(log, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new Failure(ExitCode.IO_ERROR, "cannot read " + log + ": " + e.getMessage(), e);
        }
    }

    private Failure failure(String what) {
        return new Failure(ExitCode.FAILED, name + " " + what + ":\n" + output());
    }

    @Override
    public void close() {
        process.destroy();
        Children.awaitEnd(process, STOP_SECONDS);
    }
}
