// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A JVM that answers each line of its input with a line. The JVM ends at the end of its input. */
final class JvmProcess implements AutoCloseable {

    /** Flags of all Java programs except sidecars, besides those of tools/jvm. Buffers and regions are outside of the heap. */
    static final List<String> FLAGS = List.of(
            "-Xms256m",
            "-Xmx256m",
            "-XX:+AlwaysPreTouch",
            "-XX:MaxDirectMemorySize=2g",
            // Messages of the JVM go to the log: the standard output is for answers.
            "-Xlog:disable",
            "-Xlog:all=warning:stderr",
            "-XX:+DisplayVMOutputToStderr");

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long PATIENCE_SECONDS = 120;
    private static final long STOP_SECONDS = 10;

    private final String name;
    private final Process process;
    private final BufferedWriter requests;
    private final BufferedReader replies;
    private final Path log;

    private JvmProcess(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
        requests = process.outputWriter(StandardCharsets.UTF_8);
        replies = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Returns the command that starts a program of a build. */
    static List<String> command(Build build, Class<?> program, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Takes the flags of this checkout for both builds of a comparison.
        command.add("@"
                + Path.of(Optional.ofNullable(System.getenv("SIDEWARP_ROOT")).orElse("."))
                        .toAbsolutePath()
                        .resolve("tools/jvm/program.args"));
        command.addAll(FLAGS);
        command.addAll(List.of("-cp", build.classPath(), program.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /**
     * Starts a program.
     *
     * @param directory directory for its log
     */
    static JvmProcess start(
            String name, Build build, Class<?> program, Place place, Path directory, String... arguments) {
        Path log = directory.resolve(name + ".log");
        try {
            Process process = Children.start(
                    new ProcessBuilder(place.wrap(command(build, program, arguments))).redirectError(log.toFile()));
            return new JvmProcess(name, process, log);
        } catch (IOException e) {
            throw new Failure(ExitCode.FAILED, name + " could not be started: " + e.getMessage(), e);
        }
    }

    long pid() {
        return process.pid();
    }

    /**
     * Sends a request as a line of JSON, and returns the answer.
     *
     * @param type type of the answer
     * @throws Failure if there is no valid answer, or none in time
     */
    <T> T ask(Object request, Class<T> type) {
        CompletableFuture<T> reply =
                CompletableFuture.supplyAsync(() -> exchange(request, type), Thread::startVirtualThread);
        try {
            return reply.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw failure(request.toString(), String.valueOf(e.getCause()), e);
        } catch (TimeoutException e) {
            throw failure(request.toString(), "no answer within " + PATIENCE_SECONDS + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        }
    }

    private <T> T exchange(Object request, Class<T> type) {
        try {
            requests.write(JSON.writeValueAsString(request));
            requests.newLine();
            requests.flush();
            String line = replies.readLine();
            if (line == null) {
                throw new IOException("the process has ended");
            }
            return JSON.readValue(line, type);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a failure for a request, which names the cause and the log. */
    Failure failure(String request, String what, @Nullable Throwable cause) {
        return new Failure(
                ExitCode.FAILED, name + " failed at " + request + ": " + what + " (its log is " + log + ")", cause);
    }

    @Override
    public void close() {
        try {
            requests.close();
        } catch (IOException e) {
            // The process has ended already.
        }
        Children.awaitEnd(process, STOP_SECONDS);
    }
}
