// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Mode;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * A program in C that runs both ends by itself and prints its result as JSON. Its source is in {@code e2e-tests/perf}.
 *
 * @param name name in results
 * @param path the compiled program
 * @param arguments returns the program's arguments for a plan and a time
 * @param progress receives a line when the program failed and runs again
 */
public record NativeProgram(
        String name, Path path, BiFunction<TransferPlan, Duration, List<String>> arguments, Consumer<String> progress)
        implements Program {

    /** Maximum runs of a program for one measurement. usrsctp crashed once, for an unknown reason. */
    private static final int ATTEMPTS = 3;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Metric> METRICS = Map.of(
            "p50", Metric.P50_MICROSECONDS,
            "p99", Metric.P99_MICROSECONDS,
            "p99_9", Metric.P99_9_MICROSECONDS,
            "gigabits_per_second", Metric.GIGABITS_PER_SECOND,
            "messages_per_second", Metric.MESSAGES_PER_SECOND);

    /**
     * Returns a program with the minimal work of applications over rings. It shows the costs of four processes on two
     * processors without RDMA. Messages have 8 bytes one at a time, or 64 bytes with 128 in flight and one completion
     * for each 64.
     *
     * @param root directory of the sources
     * @param directory directory for the program
     * @param active place of one processor, see {@link Place#isOneProcessor}
     */
    public static NativeProgram relay(
            Path root, Path directory, Place active, Place passive, Consumer<String> progress) {
        return new NativeProgram(
                "C relay",
                compile(root, "relay", directory, "gcc libc6-dev"),
                (plan, time) -> List.of(
                        plan.operation().toString(),
                        plan.mode() == Mode.PING_PONG ? "latency" : "rate",
                        active.processors(),
                        passive.processors(),
                        String.valueOf(time.toMillis() / 1e3)),
                progress);
    }

    /**
     * Returns usrsctp alone, which measures whole seconds.
     *
     * @param root directory of the sources
     * @param directory directory for the program
     * @param crc false omits the checksum at both ends, which violates SCTP
     */
    public static NativeProgram usrsctp(Path root, Path directory, boolean crc, Consumer<String> progress) {
        return new NativeProgram(
                crc ? "usrsctp" : "usrsctp without CRC",
                compile(root, "usrsctp-transfer", directory, "gcc libc6-dev libusrsctp-dev", "-lusrsctp", "-lpthread"),
                (plan, time) -> List.of(
                        plan.mode() == Mode.PING_PONG ? "latency" : "throughput",
                        String.valueOf(plan.size()),
                        String.valueOf(Math.max(1, time.toSeconds())),
                        crc ? "crc" : "no-crc"),
                progress);
    }

    private static Path compile(Path root, String name, Path directory, String packages, String... libraries) {
        Path program = directory.resolve(name);
        Path source = root.resolve("e2e-tests/perf").resolve(name + ".c");
        List<String> command = new ArrayList<>(List.of("cc", "-O2", "-o", program.toString(), source.toString()));
        command.addAll(List.of(libraries));
        try {
            ChildProcess.run("this takes a C compiler; Debian and Ubuntu: apt-get install " + packages, command);
        } catch (Failure e) {
            throw new Failure(ExitCode.UNAVAILABLE, String.valueOf(e.getMessage()), e);
        }
        return program;
    }

    @Override
    public Map<Metric, Double> measure(TransferPlan plan, Duration warmup, Duration time) {
        List<String> command = new ArrayList<>(List.of(path.toString()));
        command.addAll(arguments.apply(plan, time));
        for (int attempt = 1; ; attempt++) {
            try {
                return parse(plan, ChildProcess.run("run " + attempt + " of at most " + ATTEMPTS, command));
            } catch (Failure e) {
                if (attempt == ATTEMPTS || Children.areEnding()) {
                    throw e;
                }
                progress.accept(e.getMessage() + "; it runs again");
            }
        }
    }

    private Map<Metric, Double> parse(TransferPlan plan, String output) {
        try {
            JsonNode result = JSON.readTree(output);
            Map<Metric, Double> figures = new EnumMap<>(Metric.class);
            METRICS.forEach((member, metric) -> {
                if (result.has(member)) {
                    figures.put(metric, result.get(member).asDouble());
                }
            });
            Double gigabits = figures.get(Metric.GIGABITS_PER_SECOND);
            if (gigabits != null && plan.size() < EndPair.LARGE) {
                figures.remove(Metric.GIGABITS_PER_SECOND);
                figures.put(Metric.MESSAGES_PER_SECOND, gigabits * 1e9 / 8 / plan.size());
            }
            return figures;
        } catch (JsonProcessingException e) {
            throw new Failure(ExitCode.INTERNAL, name + " printed what cannot be read: " + output, e);
        }
    }
}
