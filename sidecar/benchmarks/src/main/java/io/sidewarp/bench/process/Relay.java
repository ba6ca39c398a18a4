// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A program in C with the minimal work of applications over rings: see {@code e2e-tests/perf/relay.c}. It shows the
 * costs of four processes on two processors without RDMA.
 */
public final class Relay {

    private static final Duration COMPILE_PATIENCE = Duration.ofSeconds(60);
    private static final Duration MEASURE_PATIENCE = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path directory;
    private final Path program;
    private final Place active;
    private final Place passive;

    private Relay(Path directory, Path program, Place active, Place passive) {
        this.directory = directory;
        this.program = program;
        this.active = active;
        this.passive = passive;
    }

    /** Returns whether the program can run in these places: the program needs one processor for each end. */
    public static boolean fits(Place active, Place passive) {
        return active.isOneProcessor() && passive.isOneProcessor();
    }

    /**
     * Compiles the program.
     *
     * @param root directory of the sources
     * @param directory directory for the program
     */
    public static Relay compile(Path root, Path directory, Place active, Place passive) {
        Path program = directory.resolve("relay");
        Path source = root.resolve("e2e-tests/perf/relay.c");
        List<String> command = List.of("cc", "-O2", "-o", program.toString(), source.toString());
        try (ChildProcess compiler = ChildProcess.start("cc", command, Map.of(), directory.resolve("cc.log"))) {
            compiler.awaitSuccess(COMPILE_PATIENCE);
        } catch (Failure e) {
            throw new Failure(
                    ExitCode.UNAVAILABLE,
                    e.getMessage() + "\nThis takes a C compiler (Debian and Ubuntu: apt-get install gcc libc6-dev)",
                    e);
        }
        return new Relay(directory, program, active, passive);
    }

    /**
     * Measures messages of 8 bytes, one at a time.
     *
     * @param operation write or read
     * @return p50 and p99 in us; for a Write, of half of the round trip
     */
    public double[] latencyMicros(String operation, Duration time) {
        JsonNode result = run(operation, "latency", time);
        return new double[] {
            result.required("p50").asDouble(), result.required("p99").asDouble()
        };
    }

    /** Measures messages of 64 bytes a second, with 128 in flight and one completion for each 64. */
    public double messagesPerSecond(String operation, Duration time) {
        return run(operation, "rate", time).required("messages_per_second").asDouble();
    }

    private JsonNode run(String operation, String test, Duration time) {
        String seconds = String.valueOf(time.toMillis() / 1e3);
        List<String> command =
                List.of(program.toString(), operation, test, active.processors(), passive.processors(), seconds);
        try (ChildProcess relay = ChildProcess.start("relay", command, Map.of(), directory.resolve("relay.log"))) {
            return JSON.readTree(relay.awaitSuccess(MEASURE_PATIENCE));
        } catch (JsonProcessingException e) {
            throw new Failure(ExitCode.INTERNAL, "the relay printed what cannot be read", e);
        }
    }
}
