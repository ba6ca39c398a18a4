// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.util.List;

/**
 * Report of a test by {@code sidewarp perf --json}; docs/cli.md describes its members.
 *
 * @param activeCpuPerGib seconds of processor time per GiB, of the application that asks and its sidecar
 * @param passiveCpuPerGib the same at the other end
 */
public record PerfReport(
        String operation,
        boolean latency,
        long size,
        int depth,
        int signal,
        boolean crc,
        double gigabitsPerSecond,
        double messagesPerSecond,
        double activeCpuPerGib,
        double passiveCpuPerGib,
        double p50Micros,
        double p99Micros,
        double p999Micros) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Parses one object a line; skips other lines, which are for people. */
    static List<PerfReport> parse(String output) {
        return output.lines()
                .filter(line -> line.startsWith("{"))
                .map(PerfReport::parseLine)
                .toList();
    }

    private static PerfReport parseLine(String line) {
        try {
            JsonNode test = JSON.readTree(line);
            JsonNode cpu = test.required("cpu_seconds_per_gib");
            JsonNode latency = test.required("latency_microseconds");
            return new PerfReport(
                    test.required("operation").asText(),
                    test.required("mode").asText().equals("latency"),
                    test.required("size").asLong(),
                    test.required("depth").asInt(),
                    test.required("signal").asInt(),
                    test.required("connection").required("crc").asBoolean(),
                    test.required("gigabits_per_second").asDouble(),
                    test.required("messages_per_second").asDouble(),
                    cpu.path("client").asDouble() + cpu.path("client_sidecar").asDouble(),
                    cpu.path("server").asDouble() + cpu.path("server_sidecar").asDouble(),
                    latency.required("p50").asDouble(),
                    latency.required("p99").asDouble(),
                    latency.required("p99_9").asDouble());
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new Failure(ExitCode.INTERNAL, "sidewarp perf printed what cannot be read: " + line, e);
        }
    }
}
