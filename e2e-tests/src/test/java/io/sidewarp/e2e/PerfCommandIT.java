// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.sidewarp.e2e.support.CliProcess;
import io.sidewarp.e2e.support.CliProcess.Ended;
import io.sidewarp.e2e.support.ExitCodes;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.SidecarPair;
import io.sidewarp.e2e.support.SidecarProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs {@code sidewarp perf} as a process. Checks its output, and that its figures agree with each other. */
@ExtendWith(Logs.class)
class PerfCommandIT {

    private static final Percentage ROUNDING = Percentage.withPercentage(0.1);

    @RegisterExtension
    static final SidecarPair SIDECARS = new SidecarPair();

    private static OwnedProcess server;
    private static String address;

    @BeforeAll
    static void start() {
        server = CliProcess.start(SIDECARS.right(), "perf", "--listen", "127.0.0.1:0");
        address = CliProcess.awaitAddress(server);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static Ended perf(String... arguments) {
        List<String> all = new ArrayList<>(List.of("perf"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--time", "300ms", "--warmup", "100ms"));
        Ended ended = CliProcess.run(SIDECARS.left(), all.toArray(String[]::new));
        assertThat(ended.exitCode()).as(ended.text()).isZero();
        return ended;
    }

    @Test
    void aServerWhoseSidecarAllowsNoMoreConnectionsSaysWhichSettingItIs() {
        try (SidecarProcess few = SidecarProcess.with("few")
                        .set("sidewarp.limits.connections", "3")
                        .start();
                OwnedProcess limited = CliProcess.start(few, "perf", "--listen", "127.0.0.1:0")) {
            Ended ended = CliProcess.run(
                    SIDECARS.left(),
                    "perf",
                    "write",
                    CliProcess.awaitAddress(limited),
                    "--connections",
                    "8",
                    "--time",
                    "300ms");

            assertThat(ended.exitCode()).as(ended.text()).isEqualTo(ExitCodes.TEMPORARY);
            assertThat(ended.text())
                    .contains(
                            "refused the connection: its sidecar says: ",
                            "the limit is 3",
                            "sidewarp.limits.connections");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "read", "send"})
    void throughputIsOneObjectOfJsonForEachSize(String operation) {
        List<JsonNode> results = perf(operation, address, "--size", "8,64K", "--depth", "16", "--json")
                .json();

        assertThat(results).hasSize(2);
        assertThat(results).extracting(result -> result.get("size").asLong()).containsExactly(8L, 65_536L);
        for (JsonNode result : results) {
            assertShape(result, operation, "throughput");
            assertThat(result.get("depth").asInt()).isEqualTo(16);
            assertThat(result.at("/latency_microseconds/kind").asText()).isEqualTo("completion");
            assertThat(result.get("verified").asBoolean()).isTrue();
            long messages = result.get("messages").asLong();
            double seconds = result.get("seconds").asDouble();
            double octets = result.get("octets").asDouble();
            assertThat(messages).isPositive();
            assertThat(octets).isEqualTo((double) messages * result.get("size").asLong());
            assertThat(result.get("messages_per_second").asDouble()).isCloseTo(messages / seconds, ROUNDING);
            assertThat(result.get("gigabytes_per_second").asDouble()).isCloseTo(octets / seconds / 1e9, ROUNDING);
            assertThat(result.get("gigabits_per_second").asDouble()).isCloseTo(8 * octets / seconds / 1e9, ROUNDING);
        }
        Patience.await("the server tells of it").until(() -> server.text().contains(operation + ", "));
        assertThat(SIDECARS.right().process().text()).doesNotContain("event=connection-terminated");
    }

    @ParameterizedTest
    @ValueSource(strings = {"write", "read", "send"})
    void latencyIsOneMessageAtATime(String operation) {
        JsonNode result = perf(operation, address, "--size", "8", "--latency", "--json")
                .json()
                .getFirst();

        assertShape(result, operation, "latency");
        assertThat(result.get("depth").asInt()).isEqualTo(1);
        assertThat(result.at("/latency_microseconds/kind").asText())
                .isEqualTo(operation.equals("read") ? "completion" : "half-round-trip");
    }

    @Test
    void severalConnectionsShareTheWork() {
        JsonNode result =
                perf("write", address, "--connections", "3", "--json").json().getFirst();

        assertShape(result, "write", "throughput");
        assertThat(result.get("connections").asInt()).isEqualTo(3);
        assertThat(result.get("verified").asBoolean()).isTrue();
    }

    @Test
    void intervalsAreReportedBeforeTheResult() {
        List<JsonNode> parts =
                perf("write", address, "--interval", "100ms", "--json").json();
        JsonNode result = parts.getLast();
        List<JsonNode> intervals = parts.subList(0, parts.size() - 1);

        assertThat(result.get("mode").asText()).isEqualTo("throughput");
        assertThat(intervals).isNotEmpty().allSatisfy(part -> {
            assertThat(names(part))
                    .containsExactlyInAnyOrder(
                            "version",
                            "operation",
                            "mode",
                            "size",
                            "begin",
                            "end",
                            "messages",
                            "octets",
                            "gigabits_per_second",
                            "messages_per_second");
            assertThat(part.get("mode").asText()).isEqualTo("interval");
        });
        assertThat(intervals.getFirst().get("begin").asDouble()).isZero();
        for (int i = 1; i < intervals.size(); i++) {
            assertThat(intervals.get(i).get("begin"))
                    .isEqualTo(intervals.get(i - 1).get("end"));
        }
        assertThat(intervals.stream()
                        .mapToLong(part -> part.get("messages").asLong())
                        .sum())
                .isBetween(1L, result.get("messages").asLong());
        assertThat(perf("write", address, "--interval", "100ms").output().getFirst())
                .matches("write 64 KiB: 0\\.00-\\d\\.\\d\\d s, .* Gbit/s, \\d+ messages/s");
    }

    @Test
    void peopleGetATable() {
        List<String> lines = perf("write", address, "--size", "4K,64K").output();

        assertThat(lines).hasSize(3);
        assertThat(lines.getFirst()).containsSubsequence("OPERATION", "SIZE", "DEPTH", "GBIT/S", "P50", "CPU S/GIB");
        assertThat(lines.get(1)).startsWith("write").contains("4 KiB");
        assertThat(lines.get(2)).startsWith("write").contains("64 KiB");
    }

    @Test
    void aServerThatServesOnceEndsBehindTheFirstTest() {
        try (OwnedProcess once = CliProcess.start(SIDECARS.right(), "perf", "--listen", "127.0.0.1:0", "--once")) {
            perf("send", CliProcess.awaitAddress(once));

            assertThat(once.awaitExit()).isZero();
            assertThat(once.output().getLast()).contains("send, ", "messages of 64 KiB");
        }
    }

    @Test
    void aServersSidecarThatGrantsLittleStillTakesMessages() {
        try (SidecarProcess small = SidecarProcess.with("small")
                        .set("sidewarp.limits.queue-outstanding", "64")
                        .set("sidewarp.advanced.connection.queue-outstanding", "64")
                        .start();
                OwnedProcess limited = CliProcess.start(small, "perf", "--listen", "127.0.0.1:0")) {
            JsonNode result = perf("send", CliProcess.awaitAddress(limited), "--size", "8", "--json")
                    .json()
                    .getFirst();

            assertThat(result.get("messages").asLong()).isPositive();
        }
    }

    @Test
    void aSizeBeyondAMessageOfRdmaIsAWrongArgument() {
        Ended ended = CliProcess.run(SIDECARS.left(), "perf", "write", address, "--size", "8G");

        ended.assertFailed(ExitCodes.USAGE, "4294967295");
    }

    /** The fields that docs/cli.md lists. */
    private static void assertShape(JsonNode result, String operation, String mode) {
        assertThat(names(result))
                .containsExactlyInAnyOrder(
                        "version",
                        "operation",
                        "mode",
                        "size",
                        "depth",
                        "signal",
                        "connections",
                        "seconds",
                        "messages",
                        "octets",
                        "gigabits_per_second",
                        "gigabytes_per_second",
                        "messages_per_second",
                        "latency_microseconds",
                        "cpu_seconds",
                        "cpu_seconds_per_gib",
                        "connection",
                        "verified");
        assertThat(result.get("version").asInt()).isEqualTo(1);
        assertThat(result.get("operation").asText()).isEqualTo(operation);
        assertThat(result.get("mode").asText()).isEqualTo(mode);
        assertThat(result.get("seconds").asDouble()).isPositive();
        assertLatency(result.get("latency_microseconds"));
        assertCpu(result.get("cpu_seconds"));
        assertThat(names(result.get("cpu_seconds_per_gib"))).isEqualTo(names(result.get("cpu_seconds")));
        JsonNode connection = result.get("connection");
        assertThat(names(connection))
                .containsExactlyInAnyOrder("llp", "crc", "receive_markers", "send_markers", "mulpdu", "ord");
        assertThat(connection.get("llp").asText()).isEqualTo("tcp");
        assertThat(connection.get("crc").asBoolean()).isTrue();
        assertThat(connection.get("mulpdu").asInt()).isBetween(128, 64_768);
    }

    private static void assertLatency(JsonNode latency) {
        assertThat(names(latency))
                .containsExactlyInAnyOrder("kind", "samples", "min", "mean", "p50", "p99", "p99_9", "max");
        assertThat(latency.get("samples").asLong()).isPositive();
        double[] ascending = {
            latency.get("min").asDouble(),
            latency.get("p50").asDouble(),
            latency.get("p99").asDouble(),
            latency.get("p99_9").asDouble(),
            latency.get("max").asDouble()
        };
        assertThat(ascending).isSorted();
        assertThat(ascending[0]).isPositive();
        assertThat(latency.get("mean").asDouble()).isBetween(ascending[0], ascending[4]);
    }

    /** All four processes are on this machine, and their CPU time can be read. */
    private static void assertCpu(JsonNode cpu) {
        assertThat(names(cpu))
                .containsExactlyInAnyOrder("client", "client_sidecar", "server", "server_sidecar", "total");
        double sum = cpu.get("client").asDouble()
                + cpu.get("client_sidecar").asDouble()
                + cpu.get("server").asDouble()
                + cpu.get("server_sidecar").asDouble();
        assertThat(cpu.get("total").asDouble()).isCloseTo(sum, within(0.001 + sum / 1000));
    }

    private static Set<String> names(JsonNode object) {
        Set<String> names = new TreeSet<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }
}
