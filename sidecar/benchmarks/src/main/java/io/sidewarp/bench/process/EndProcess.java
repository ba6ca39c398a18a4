// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.bench.end.EndCommand;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.EndProgram;
import io.sidewarp.bench.end.EndReply;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One end: a JVM that runs {@link EndProgram}. */
final class EndProcess implements AutoCloseable {

    /** Of both ends and of all programs in Java. Buffers and regions are outside of the heap. */
    private static final List<String> JVM_FLAGS = List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-Xms256m",
            "-Xmx256m",
            "-XX:+AlwaysPreTouch",
            "-XX:MaxDirectMemorySize=2g");

    private static final long PATIENCE_SECONDS = 120;
    private static final long STOP_SECONDS = 10;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final String name;
    private final Process process;
    private final BufferedWriter commands;
    private final BufferedReader replies;
    private final Path log;

    private EndProcess(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
        commands = process.outputWriter(StandardCharsets.UTF_8);
        replies = process.inputReader(StandardCharsets.UTF_8);
    }

    /**
     * Starts an end.
     *
     * @param role active or passive
     * @param processors as taskset takes them, or empty
     * @param directory for its log
     */
    static EndProcess start(EndKind kind, String role, String processors, Path directory) {
        String name = kind + "-" + role;
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JVM_FLAGS);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(EndProgram.class.getName(), kind.name(), role));
        Path log = directory.resolve(name + ".log");
        try {
            Process process =
                    Children.start(new ProcessBuilder(Pinning.wrap(processors, command)).redirectError(log.toFile()));
            return new EndProcess(name, process, log);
        } catch (IOException e) {
            throw new Failure(ExitCode.FAILED, name + " could not be started: " + e.getMessage(), e);
        }
    }

    /**
     * Has the end carry out a command.
     *
     * @throws Failure when it cannot
     */
    EndReply call(EndCommand command) {
        CompletableFuture<EndReply> reply = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> exchange(command, reply));
        try {
            EndReply answer = reply.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            String error = answer.error();
            if (error != null) {
                throw failure(command, error, null);
            }
            return answer;
        } catch (ExecutionException e) {
            throw failure(command, String.valueOf(e.getCause()), e);
        } catch (TimeoutException e) {
            throw failure(command, "no answer within " + PATIENCE_SECONDS + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        }
    }

    private void exchange(EndCommand command, CompletableFuture<EndReply> reply) {
        try {
            commands.write(JSON.writeValueAsString(command));
            commands.newLine();
            commands.flush();
            String line = replies.readLine();
            if (line == null) {
                throw new IOException("the process has ended");
            }
            reply.complete(JSON.readValue(line, EndReply.class));
        } catch (IOException | RuntimeException e) {
            reply.completeExceptionally(e);
        }
    }

    private Failure failure(EndCommand command, String what, @Nullable Throwable cause) {
        return new Failure(
                ExitCode.FAILED, name + " failed at " + command + ": " + what + " (its log is " + log + ")", cause);
    }

    @Override
    public void close() {
        try {
            commands.close();
        } catch (IOException e) {
            // It has ended already.
        }
        boolean interrupted = Thread.interrupted();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
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
}
