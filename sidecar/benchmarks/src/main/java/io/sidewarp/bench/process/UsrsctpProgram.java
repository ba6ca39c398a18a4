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
import java.util.function.Consumer;

/**
 * Runs usrsctp alone between two processes: {@code e2e-tests/perf/usrsctp-transfer.c}, which a C compiler compiles
 * first.
 */
public final class UsrsctpProgram {

    private static final Duration COMPILE_PATIENCE = Duration.ofSeconds(60);
    private static final Duration MEASURE_PATIENCE = Duration.ofSeconds(60);
    /** Maximum runs of the program for one measurement. The program crashed once, for an unknown reason. */
    private static final int ATTEMPTS = 3;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path directory;
    private final Path program;
    private final Consumer<String> progress;

    UsrsctpProgram(Path directory, Path program, Consumer<String> progress) {
        this.directory = directory;
        this.program = program;
        this.progress = progress;
    }

    /**
     * Compiles the program.
     *
     * @param root directory of the sources
     * @param directory directory for the program
     * @param progress receives a line when the program failed and runs again
     */
    public static UsrsctpProgram compile(Path root, Path directory, Consumer<String> progress) {
        Path program = directory.resolve("usrsctp-transfer");
        Path source = root.resolve("e2e-tests/perf/usrsctp-transfer.c");
        List<String> command =
                List.of("cc", "-O2", "-o", program.toString(), source.toString(), "-lusrsctp", "-lpthread");
        try (ChildProcess compiler = ChildProcess.start("cc", command, Map.of(), directory.resolve("cc.log"))) {
            compiler.awaitSuccess(COMPILE_PATIENCE);
        } catch (Failure e) {
            throw new Failure(
                    ExitCode.UNAVAILABLE,
                    e.getMessage() + "\nThis takes a C compiler and usrsctp"
                            + " (Debian and Ubuntu: apt-get install gcc libc6-dev libusrsctp-dev)",
                    e);
        }
        return new UsrsctpProgram(directory, program, progress);
    }

    /**
     * Measures a stream; returns Gbit/s.
     *
     * @param crc false omits the checksum at both ends, which violates SCTP
     */
    public double gigabitsPerSecond(long size, boolean crc, Duration time) {
        return run("throughput", size, crc, time)
                .required("gigabits_per_second")
                .asDouble();
    }

    /** Measures round trips. Returns p50 and p99 of half of the round trip, in microseconds. */
    public double[] latencyMicros(long size, Duration time) {
        JsonNode result = run("latency", size, true, time);
        return new double[] {
            result.required("p50").asDouble(), result.required("p99").asDouble()
        };
    }

    private JsonNode run(String test, long size, boolean crc, Duration time) {
        String seconds = String.valueOf(Math.max(1, time.toSeconds()));
        List<String> command = List.of(program.toString(), test, String.valueOf(size), seconds, crc ? "crc" : "no-crc");
        for (int attempt = 1; ; attempt++) {
            try (ChildProcess transfer =
                    ChildProcess.start("usrsctp-transfer", command, Map.of(), directory.resolve("usrsctp.log"))) {
                return JSON.readTree(transfer.awaitSuccess(MEASURE_PATIENCE));
            } catch (Failure e) {
                if (attempt == ATTEMPTS || Children.areEnding()) {
                    throw e;
                }
                progress.accept("run " + attempt + " of " + ATTEMPTS + " failed, and it runs again: " + e.getMessage());
            } catch (JsonProcessingException e) {
                throw new Failure(ExitCode.INTERNAL, "usrsctp-transfer printed what cannot be read", e);
            }
        }
    }
}
