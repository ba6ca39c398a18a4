// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.Waiting;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.client.QueuePath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Two sidecars, and a {@code sidewarp perf --listen} at one of them. Volumes are in memory if possible. Sidecar and
 * application of an end run in the same place.
 */
public final class SidecarPair implements AutoCloseable {

    private static final String LISTENING = "listening on";
    private static final Duration LISTEN_PATIENCE = Duration.ofSeconds(30);

    private final Path directory;
    private final SidecarProcess passive;
    private final SidecarProcess active;
    private final String address;
    private final String llp;
    private final Application client;
    private final List<String> queue;
    private @Nullable Application second;
    private ChildProcess server;
    private List<String> destination;

    private SidecarPair(
            Path directory, SidecarProcess passive, SidecarProcess active, String address, String llp, QueuePath path) {
        this.directory = directory;
        this.passive = passive;
        this.active = active;
        this.address = address;
        this.llp = llp;
        client = active.application("application");
        ChildProcess started = null;
        try {
            queue = queueOptions(client.run(List.of("perf", "--help")), path);
            started = listen();
            server = started;
            destination = destination(server.awaitLine(LISTENING, LISTEN_PATIENCE), llp);
        } catch (RuntimeException e) {
            client.close();
            if (started != null) {
                started.close();
            }
            throw e;
        }
    }

    /**
     * Returns options of {@code sidewarp perf} for a path of work.
     *
     * @param help output of {@code perf --help}; without {@code --queue} in it, the build has the gRPC queue only
     */
    static List<String> queueOptions(String help, QueuePath path) {
        if (!help.contains("--queue")) {
            return List.of();
        }
        return path == QueuePath.GRPC
                ? List.of("--queue", "grpc")
                : List.of("--queue", "rings", "--wait", Waiting.ADAPTIVE.toString());
    }

    /** Returns the options for a path of work, with another wait strategy if work goes through rings. */
    private static List<String> waiting(List<String> queue, Waiting waiting) {
        List<String> changed = new ArrayList<>(queue);
        int option = changed.indexOf("--wait");
        if (option >= 0) {
            changed.set(option + 1, waiting.toString());
        }
        return changed;
    }

    /**
     * Starts everything.
     *
     * @param activePlace place of the application and the sidecar that measure
     * @param llp tcp or sctp
     * @param path path of work to the sidecars; ignored if the build has the gRPC queue only
     */
    public static SidecarPair start(Build build, Place activePlace, Place passivePlace, String llp, QueuePath path) {
        Path directory = createDirectory();
        SidecarProcess passive = null;
        SidecarProcess active = null;
        try {
            passive = SidecarProcess.start(build, "b", passivePlace, directory);
            active = SidecarProcess.start(build, "a", activePlace, directory);
            return new SidecarPair(directory, passive, active, passivePlace.address(), llp, path);
        } catch (RuntimeException e) {
            close(active, passive);
            throw e;
        }
    }

    private ChildProcess listen() {
        List<String> arguments = new ArrayList<>(List.of("perf", "--listen", address + ":0", "--llp", llp));
        arguments.addAll(queue);
        return passive.command(arguments);
    }

    /** Listens again. The connections of a listener keep the congestion control from the time when it began. */
    public void listenAgain() {
        server.close();
        server = listen();
        destination = destination(server.awaitLine(LISTENING, LISTEN_PATIENCE), llp);
    }

    /**
     * Measures with {@code sidewarp perf}.
     *
     * @param operation write or read
     * @param options sizes, depth and the like
     * @return one report for each size
     */
    public List<PerfReport> perf(String operation, Duration warmup, Duration time, String... options) {
        return perf(client, queue, operation, warmup, time, options);
    }

    /** Measures as {@link #perf}, with an application that sleeps while it waits. */
    public List<PerfReport> perfSleeping(String operation, Duration warmup, Duration time, String... options) {
        return perf(client, waiting(queue, Waiting.SLEEP), operation, warmup, time, options);
    }

    /**
     * Measures with a second application of the sidecar that asks, beside the first one. The application sleeps while it
     * waits.
     *
     * @return future that completes when the measurement has ended
     */
    public CompletableFuture<List<PerfReport>> perfBeside(
            String operation, Duration warmup, Duration time, String... options) {
        if (second == null) {
            second = active.application("second-application");
        }
        Application application = second;
        return CompletableFuture.supplyAsync(
                () -> perf(application, waiting(queue, Waiting.SLEEP), operation, warmup, time, options),
                Thread::startVirtualThread);
    }

    private List<PerfReport> perf(
            Application application,
            List<String> queueOptions,
            String operation,
            Duration warmup,
            Duration time,
            String... options) {
        List<String> arguments = new ArrayList<>(List.of("perf", operation));
        arguments.addAll(destination);
        arguments.addAll(queueOptions);
        arguments.addAll(List.of(options));
        arguments.addAll(List.of("--json", "--warmup", warmup.toMillis() + "ms", "--time", time.toMillis() + "ms"));
        arguments.addAll(active.options());
        return PerfReport.parse(application.run(arguments));
    }

    /** Returns the sidecar that asks. */
    public SidecarProcess active() {
        return active;
    }

    /** Parses the line that perf prints: "listening on 127.0.0.1:7471", followed by " in UDP port 9899" over SCTP. */
    static List<String> destination(String line, String llp) {
        String[] words = line.substring(line.indexOf(LISTENING) + LISTENING.length())
                .strip()
                .split(" ", -1);
        List<String> arguments = new ArrayList<>(List.of(words[0], "--llp", llp));
        if (llp.equals("sctp")) {
            arguments.addAll(List.of("--udp-port", words[words.length - 1]));
        }
        return arguments;
    }

    @Override
    public void close() {
        client.close();
        if (second != null) {
            second.close();
        }
        server.close();
        close(active, passive);
        delete(directory);
    }

    private static void close(@Nullable SidecarProcess... sidecars) {
        for (SidecarProcess sidecar : sidecars) {
            if (sidecar != null) {
                sidecar.close();
            }
        }
    }

    private static Path createDirectory() {
        Path memory = Path.of("/dev/shm");
        try {
            Path directory = Files.isWritable(memory)
                    ? Files.createTempDirectory(memory, "sidewarp-bench-")
                    : Files.createTempDirectory("sidewarp-bench-");
            Children.adopt(directory, () -> Trees.delete(directory));
            return directory;
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "there is no directory for the sidecars: " + e.getMessage(), e);
        }
    }

    private static void delete(Path directory) {
        try {
            Children.remove(directory);
        } catch (IOException e) {
            throw new Failure(ExitCode.IO_ERROR, "cannot remove " + directory + ": " + e.getMessage(), e);
        }
    }
}
