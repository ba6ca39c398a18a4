// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.bench.end.CommandProgram;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Mode;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.client.QueuePath;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Two sidecars, a {@code sidewarp perf --listen} at one of them, and applications at the other one. Volumes are in
 * memory if possible. Sidecar and application of an end run in the same place. Plans have CRC on and one connection.
 */
public final class SidecarPair implements Program {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String LISTENING = "listening on";
    private static final Duration LISTEN_PATIENCE = Duration.ofSeconds(30);

    private final String name;
    private final QueuePath path;

    /** Everything that has started, in the reverse order. */
    private final Deque<AutoCloseable> started = new ArrayDeque<>();

    private final SidecarProcess active;
    private final JvmProcess client;
    private final String help;
    private final List<String> destination;
    private @Nullable JvmProcess second;

    /**
     * Starts everything.
     *
     * @param name name in results
     * @param activePlace place of the application and the sidecar that measure
     * @param llp tcp or sctp
     * @param path path of work to the sidecars; ignored if the build has the gRPC queue only
     */
    public SidecarPair(String name, Build build, Place activePlace, Place passivePlace, String llp, QueuePath path) {
        this.name = name;
        this.path = path;
        try {
            RunDirectory directory = closing(RunDirectory.createInMemory());
            SidecarProcess passive = closing(new SidecarProcess(build, "b", passivePlace, directory.path()));
            active = closing(new SidecarProcess(build, "a", activePlace, directory.path()));
            client = closing(active.application("application"));
            help = run(client, List.of("perf", "--help"));
            List<String> listen =
                    new ArrayList<>(List.of("perf", "--listen", passivePlace.address() + ":0", "--llp", llp));
            listen.addAll(queueOptions(help, path, Waiting.ADAPTIVE));
            ChildProcess server = closing(passive.command(listen));
            destination = destination(server.awaitLine(LISTENING, LISTEN_PATIENCE), llp);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private <T extends AutoCloseable> T closing(T thing) {
        started.push(thing);
        return thing;
    }

    /**
     * Returns options of {@code sidewarp perf} for a path of work, and for a way to wait over rings.
     *
     * @param help output of {@code perf --help}; without {@code --queue} in it, the build has the gRPC queue only
     */
    static List<String> queueOptions(String help, QueuePath path, Waiting waiting) {
        if (!help.contains("--queue")) {
            return List.of();
        }
        return path == QueuePath.GRPC
                ? List.of("--queue", "grpc")
                : List.of("--queue", "rings", "--wait", waiting.toString());
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
    public String name() {
        return name;
    }

    @Override
    public Map<Metric, Double> measure(TransferPlan plan, Duration warmup, Duration time) {
        return perf(client, plan, warmup, time);
    }

    /** Measures with a second application of the sidecar that asks. Another thread may measure with the first one. */
    Map<Metric, Double> measureBeside(TransferPlan plan, Duration warmup, Duration time) {
        if (second == null) {
            second = closing(active.application("second-application"));
        }
        return perf(second, plan, warmup, time);
    }

    private Map<Metric, Double> perf(JvmProcess application, TransferPlan plan, Duration warmup, Duration time) {
        List<String> arguments =
                new ArrayList<>(List.of("perf", plan.operation().toString()));
        arguments.addAll(destination);
        arguments.addAll(queueOptions(help, path, plan.waiting()));
        arguments.addAll(List.of("--size", String.valueOf(plan.size())));
        arguments.addAll(
                plan.mode() == Mode.PING_PONG
                        ? List.of("--latency")
                        : List.of("--depth", String.valueOf(plan.depth()), "--signal", String.valueOf(plan.signal())));
        arguments.addAll(List.of("--json", "--warmup", warmup.toMillis() + "ms", "--time", time.toMillis() + "ms"));
        arguments.addAll(active.options());
        return parse(run(application, arguments));
    }

    private static String run(JvmProcess application, List<String> arguments) {
        CommandProgram.Reply reply = application.ask(arguments, CommandProgram.Reply.class);
        if (reply.exitCode() != 0) {
            throw application.failure(
                    arguments.toString(), "exit code " + reply.exitCode() + ", " + reply.output(), null);
        }
        return reply.output();
    }

    /**
     * Parses the report of {@code sidewarp perf --json}; docs/cli.md describes its members. Processor time of an end is
     * that of the application and its sidecar.
     */
    static Map<Metric, Double> parse(String output) {
        try {
            // Other lines are for people.
            JsonNode test = JSON.readTree(output.lines()
                    .filter(line -> line.startsWith("{"))
                    .findFirst()
                    .orElse("{}"));
            Map<Metric, Double> figures = new EnumMap<>(Metric.class);
            if (test.required("mode").asText().equals("latency")) {
                JsonNode latency = test.required("latency_microseconds");
                figures.put(Metric.P50_MICROSECONDS, latency.required("p50").asDouble());
                figures.put(Metric.P99_MICROSECONDS, latency.required("p99").asDouble());
                figures.put(Metric.P99_9_MICROSECONDS, latency.required("p99_9").asDouble());
            } else if (test.required("size").asLong() < EndPair.LARGE) {
                figures.put(
                        Metric.MESSAGES_PER_SECOND,
                        test.required("messages_per_second").asDouble());
            } else {
                JsonNode cpu = test.required("cpu_seconds_per_gib");
                figures.put(
                        Metric.GIGABITS_PER_SECOND,
                        test.required("gigabits_per_second").asDouble());
                figures.put(
                        Metric.ACTIVE_CPU_SECONDS_PER_GIB,
                        cpu.path("client").asDouble()
                                + cpu.path("client_sidecar").asDouble());
                figures.put(
                        Metric.PASSIVE_CPU_SECONDS_PER_GIB,
                        cpu.path("server").asDouble()
                                + cpu.path("server_sidecar").asDouble());
            }
            return figures;
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new Failure(ExitCode.INTERNAL, "sidewarp perf printed what cannot be read: " + output, e);
        }
    }

    /** Returns the sidecar that asks. */
    public SidecarProcess active() {
        return active;
    }

    @Override
    public void close() {
        while (!started.isEmpty()) {
            try {
                started.pop().close();
            } catch (Exception e) {
                throw new Failure(ExitCode.IO_ERROR, "cannot end a program: " + e.getMessage(), e);
            }
        }
    }
}
