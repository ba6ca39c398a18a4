// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Sidewarp;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A child process in Java: a sidecar, or this program with another command, whose output is read line by line. Closing it
 * ends the process.
 */
final class DemoProcess implements AutoCloseable {

    private static final String NETTY_FLAG = "-Dio.netty.leakDetection.level=disabled";
    private static final String SMALL_HEAP = "-Xmx64m";
    private static final String DIRECT_MEMORY = "-XX:MaxDirectMemorySize=1g";

    private static final String END = "\0end";
    private static final String LISTENING = "listening on ";

    private static final int LOG_LINES = 15;
    private static final long STOP_SECONDS = 15;

    private final String name;
    private final Process process;
    private final Path log;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private DemoProcess(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
    }

    /**
     * Starts a sidecar.
     *
     * @param jar the service's jar
     * @param log receives the output
     */
    static DemoProcess sidecar(String name, Path jar, Map<String, String> environment, Path log) {
        List<String> command = new ArrayList<>(flags("sidecar.args"));
        command.addAll(List.of(DIRECT_MEMORY, "-jar", jar.toString()));
        ProcessBuilder builder = java(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        return start(name, builder, log);
    }

    /**
     * Starts this program with other arguments, and reads its standard output on a thread of its own.
     *
     * @param log receives standard error
     */
    static DemoProcess self(String name, List<String> arguments, Path log) {
        List<String> command = new ArrayList<>(
                List.of(SMALL_HEAP, "-cp", System.getProperty("java.class.path"), Sidewarp.class.getName()));
        command.addAll(arguments);
        DemoProcess program = start(name, java(command).redirectError(log.toFile()), log);
        Thread.ofVirtual().name("sidewarp-demo-talk").start(program::read);
        return program;
    }

    Process process() {
        return process;
    }

    /** Waits until a server reports where it listens. Returns that address. */
    String awaitListening(long seconds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (true) {
            String line = next(end).orElseThrow(() -> failure("does not listen:"));
            if (line.startsWith(LISTENING)) {
                return line.substring(LISTENING.length());
            }
        }
    }

    /** Passes on all lines until the program ends. */
    void untilEnd(Consumer<String> taker, long seconds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        Optional<String> line = next(end);
        while (line.isPresent()) {
            taker.accept(line.get());
            line = next(end);
        }
    }

    /** Collects facts until the last one has arrived. */
    ProcessFacts facts(String last, long seconds) {
        ProcessFacts facts = new ProcessFacts();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!facts.has(last)) {
            facts.add(next(end).orElseThrow(() -> failure("did not report all facts:")));
        }
        return facts;
    }

    /** Returns a failure that names the problem, and the end of the process's log. */
    Failure failure(String what) {
        StringBuilder message = new StringBuilder(name).append(' ').append(what);
        try {
            List<String> logged = Files.readAllLines(log, StandardCharsets.UTF_8);
            logged.subList(Math.max(0, logged.size() - LOG_LINES), logged.size())
                    .forEach(line -> message.append("\n  ").append(line));
        } catch (IOException e) {
            message.append(" (and its log cannot be read)");
        }
        return new Failure(ExitCode.FAILED, message.toString());
    }

    /** Ends the process by SIGTERM, and by SIGKILL if it does not end in time. */
    @Override
    public void close() {
        process.destroy();
        boolean interrupted = Thread.interrupted();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor(STOP_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the next line. Empty when the program has ended, or the time is over. */
    private Optional<String> next(long end) {
        try {
            String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            return line == null || line.equals(END) ? Optional.empty() : Optional.of(line);
        } catch (InterruptedException e) {
            throw Failure.interrupted();
        }
    }

    private void read() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            // The process has ended, and with it the rest of its output.
        }
        lines.add(END);
    }

    private static ProcessBuilder java(List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags("program.args"));
        command.add(NETTY_FLAG);
        command.addAll(arguments);
        return new ProcessBuilder(command);
    }

    /** Returns a reference to a file of flags in the sources. Without the sources, the JVM's defaults must do. */
    private static List<String> flags(String file) {
        return Stream.ofNullable(System.getenv("SIDEWARP_ROOT"))
                .filter(root -> !root.isEmpty())
                .map(root -> "@"
                        + Path.of(root).toAbsolutePath().resolve("tools/jvm").resolve(file))
                .toList();
    }

    private static DemoProcess start(String name, ProcessBuilder builder, Path log) {
        try {
            return new DemoProcess(name, builder.start(), log);
        } catch (IOException e) {
            throw new Failure(ExitCode.FAILED, name + " could not be started: " + e.getMessage(), e);
        }
    }
}
