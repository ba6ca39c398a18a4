// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.operator.testing.TestResource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * A process that a test starts. Neither this process nor its children outlive the tests. Its output goes to a log below
 * {@link Programs#output}, and its standard output can also be read here.
 */
public final class OwnedProcess implements AutoCloseable {

    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final String name;
    private final Process process;
    private final TestResource remains;
    private final Path log;
    private final List<String> lines = new ArrayList<>();
    private final Thread reader;
    private boolean ended;

    private OwnedProcess(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.remains = TestResource.of(process);
        this.log = log;
        // A virtual thread would keep its carrier while it waits for output, and a machine has few of those.
        this.reader = Thread.ofPlatform().daemon().name("output of " + name).start(this::readOutput);
    }

    public static OwnedProcess start(String name, List<String> command) {
        return start(name, command, Map.of(), Programs.output());
    }

    /** @param environment is added to that of the tests; the empty value unsets */
    public static OwnedProcess start(
            String name, List<String> command, Map<String, String> environment, Path directory) {
        Path log = Programs.output().resolve("%03d-%s.log".formatted(NUMBER.incrementAndGet(), name));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        environment.forEach((key, value) -> {
            if (value.isEmpty()) {
                builder.environment().remove(key);
            } else {
                builder.environment().put(key, value);
            }
        });
        try {
            Files.createDirectories(log.getParent());
            Files.createDirectories(directory);
            Files.writeString(log, "$ " + String.join(" ", command) + "\n");
            Process process = builder.redirectErrorStream(true).start();
            Logs.add(log);
            return new OwnedProcess(name, process, log);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + command, e);
        }
    }

    private void readOutput() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
                Writer copy = Files.newBufferedWriter(log, java.nio.file.StandardOpenOption.APPEND)) {
            String line = output.readLine();
            while (line != null) {
                copy.write(line + "\n");
                copy.flush();
                addLine(line);
                line = output.readLine();
            }
        } catch (IOException e) {
            addLine("cannot read on: " + e);
        } finally {
            endOfOutput();
        }
    }

    private synchronized void addLine(String line) {
        lines.add(line);
        notifyAll();
    }

    private synchronized void endOfOutput() {
        ended = true;
        notifyAll();
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns all output so far, standard output and standard error together. */
    public synchronized List<String> output() {
        return List.copyOf(lines);
    }

    public String text() {
        return String.join("\n", output());
    }

    /** Waits for a line and returns the first one that fits. */
    public String awaitLine(Predicate<String> wanted) {
        return awaitLine(wanted, Patience.LIMIT);
    }

    /** Does the same as {@link #awaitLine(Predicate)} with another limit. */
    public synchronized String awaitLine(Predicate<String> wanted, Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        int seen = 0;
        while (true) {
            for (; seen < lines.size(); seen++) {
                if (wanted.test(lines.get(seen))) {
                    return lines.get(seen);
                }
            }
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (ended || left <= 0) {
                throw new AssertionError(name + (ended ? " ended" : " said nothing of the kind in time")
                        + "; its output:\n" + String.join("\n", lines));
            }
            try {
                wait(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }

    /** Writes a line to its standard input. */
    public void say(String line) {
        try {
            OutputStream input = process.getOutputStream();
            input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            input.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " does not listen; its output:\n" + text(), e);
        }
    }

    /** SIGTERM; unlike {@link Process#destroy}, its last output is still read. */
    public void terminate() {
        signal("TERM");
    }

    /** SIGINT. */
    public void interrupt() {
        signal("INT");
    }

    /** SIGKILL: it gets no chance to tidy up. */
    public void kill() {
        process.destroyForcibly();
    }

    /** SIGSTOP: it does nothing until {@link #resume}. */
    public void suspend() {
        signal("STOP");
    }

    /** SIGCONT. */
    public void resume() {
        signal("CONT");
    }

    private void signal(String signal) {
        try {
            new ProcessBuilder("kill", "-" + signal, Long.toString(pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The exit status, once it ended and all that it wrote is here. */
    public int awaitExit() {
        return awaitExit(Patience.LIMIT);
    }

    public int awaitExit(Duration limit) {
        try {
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError(name + " runs on after " + limit + "; its output:\n" + text());
            }
            reader.join(Patience.LIMIT);
            remains.forget();
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Ends it and all that it started: they can tidy up, and are killed if that takes long. */
    @Override
    public void close() {
        if (process.isAlive()) {
            remains.close();
        }
        awaitExit();
    }

    @Override
    public String toString() {
        return name + " (log: " + log + ")";
    }
}
