// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.CommandProgram;
import io.sidewarp.bench.end.Usage;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Sidewarp;
import io.sidewarp.cli.perf.ProcessCpu;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.SidewarpClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A sidecar of a build, as {@code ./sidewarp sidecar} starts it, with a socket and a volume of its own. */
public final class SidecarProcess implements AutoCloseable {

    private static final Duration START_PATIENCE = Duration.ofSeconds(60);

    private final Build build;
    private final String name;
    private final Place place;
    private final Path directory;
    private final ChildProcess process;
    private final long readyNanos;

    /**
     * Starts a sidecar and waits until it serves.
     *
     * @param base directory in which the sidecar's directory is made
     */
    public SidecarProcess(Build build, String name, Place place, Path base) {
        this.build = build;
        this.name = name;
        this.place = place;
        directory = base.resolve(name);
        try {
            Files.createDirectories(volume());
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot create " + directory + ": " + e.getMessage(), e);
        }
        Map<String, String> environment = Map.of(
                "SIDEWARP_API_SOCKET", directory.resolve("api.sock").toString(),
                "SIDEWARP_SHARED_VOLUME", volume().toString(),
                "SIDEWARP_MANAGEMENT_PORT", "0",
                "SIDEWARP_SCTP_UDP_PORT", "0",
                "SIDEWARP_BUILD", "never");
        long begin = System.nanoTime();
        process = ChildProcess.start(
                "sidecar " + name,
                place.wrap(List.of(build.root().resolve("sidewarp").toString(), "sidecar")),
                environment,
                directory.resolve("log"));
        try {
            process.awaitLine("event=started", START_PATIENCE);
        } catch (RuntimeException e) {
            process.close();
            throw e;
        }
        readyNanos = System.nanoTime() - begin;
    }

    /** Returns the time from the start of the process until it reported that it serves. */
    public long readyNanos() {
        return readyNanos;
    }

    /** Returns the resident bytes of the process, from /proc. */
    public long residentOctets() {
        return Usage.residentOctets(process.pid());
    }

    /** Returns the processor time of the process. */
    public ProcessCpu cpu() {
        return new ProcessCpu(process.pid());
    }

    /** Returns the bytes of all files in the sidecar's shared volume. */
    public long volumeOctets() {
        try (Stream<Path> files = Files.list(volume())) {
            return files.mapToLong(file -> file.toFile().length()).sum();
        } catch (IOException e) {
            throw new Failure(ExitCode.IO_ERROR, "cannot list " + volume() + ": " + e.getMessage(), e);
        }
    }

    /** Returns a client in this process; the caller closes it. */
    public SidewarpClient client() {
        return SidewarpClient.connect(
                ClientOptions.defaults().withTarget(target()).withSharedVolume(volume()));
    }

    private Path volume() {
        return directory.resolve("volume");
    }

    private String target() {
        return "unix://" + directory.resolve("api.sock");
    }

    /** Returns the options of the sidewarp program for this sidecar. */
    List<String> options() {
        return List.of("--api", target(), "--volume", volume().toString());
    }

    /**
     * Starts an application in the place of the sidecar: one JVM that carries out commands of the sidewarp program one
     * after the other. Like the JVMs of the other ends it therefore becomes warm.
     */
    JvmProcess application(String applicationName) {
        return JvmProcess.start(applicationName, build, CommandProgram.class, place, directory);
    }

    /** Starts one command of the sidewarp program in the place of the sidecar. */
    ChildProcess command(List<String> arguments) {
        List<String> command = JvmProcess.command(build, Sidewarp.class, arguments.toArray(String[]::new));
        command.addAll(options());
        return ChildProcess.start(
                arguments.getFirst() + " at " + name, place.wrap(command), Map.of(), directory.resolve("command"));
    }

    @Override
    public void close() {
        process.close();
    }
}
