// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A child process in Java: a sidecar, or this program with another command. Closing it ends the process. */
final class DemoProcess implements AutoCloseable {

    private static final String NETTY_FLAG = "-Dio.netty.leakDetection.level=disabled";
    private static final String SMALL_HEAP = "-Xmx64m";
    private static final String DIRECT_MEMORY = "-XX:MaxDirectMemorySize=1g";

    private static final int LOG_LINES = 15;
    private static final long STOP_SECONDS = 15;

    private final String name;
    private final Process process;
    private final Path log;

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
        command.add(DIRECT_MEMORY);
        command.add("-jar");
        command.add(jar.toString());
        ProcessBuilder builder = java(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        return start(name, builder, log);
    }

    /**
     * Starts this program with other arguments. The caller reads its standard output.
     *
     * @param log receives standard error
     */
    static DemoProcess self(String name, List<String> arguments, Path log) {
        List<String> command = new ArrayList<>();
        command.add(SMALL_HEAP);
        command.add("-cp");
        command.add(System.getProperty("java.class.path"));
        command.add("io.sidewarp.cli.Sidewarp");
        command.addAll(arguments);
        return start(name, java(command).redirectError(log.toFile()), log);
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    Process process() {
        return process;
    }

    /** Returns a failure that names the problem, and the end of the process's log. */
    Failure failure(String what) {
        StringBuilder message = new StringBuilder(name).append(' ').append(what);
        try {
            List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
            lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size())
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
