// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.ExitCodes;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Runs {@code ./sidewarp bench} as briefly as possible. Checks that figures are printed, but not their values. */
@ExtendWith(Logs.class)
class BenchCommandIT {

    private Path directory;

    @BeforeEach
    void prepare() {
        directory = Directories.temporary("bench");
    }

    @AfterEach
    void cleanUp() {
        Directories.delete(directory);
    }

    private static OwnedProcess bench(String... arguments) {
        List<String> command = new ArrayList<>(List.of("./sidewarp", "bench"));
        command.addAll(List.of(arguments));
        return OwnedProcess.start("bench", command, Programs.unbuilt(), Programs.root());
    }

    @Test
    void measuresEnginesAndApplicationsBesideTheirPeers() throws IOException {
        Path json = directory.resolve("bench.json");
        Path document = Files.writeString(directory.resolve("performance.md"), """
                <!-- begin: bench summary -->
                <!-- end: bench summary -->
                """);

        try (OwnedProcess bench = bench(
                "--quick",
                "--time",
                "20ms",
                "--only",
                "LATENCY,APPLICATION,STREAMS,CONNECTIONS",
                "--json",
                json.toString(),
                "--write",
                document.toString())) {
            assertThat(bench.awaitExit(Patience.LONG_LIMIT)).as(bench.text()).isZero();
            assertThat(bench.text())
                    .contains(
                            "| polling | engine write 8 B, spin | ",
                            "| 64 KiB, no CRC | limit write 64 KiB, depth 16, signal 1, no CRC, spin | ",
                            "| one busy of 100 | engine write 1 MiB, depth 8, signal 1, 100 connections, adaptive | ",
                            "| write 1 MiB, depth 8 | application write 1 MiB, depth 8, signal 4, adaptive | ",
                            "files, KiB",
                            "| 64 KiB | application read 64 KiB, depth 16, signal 8, adaptive | ",
                            "| beside read 1 MiB | application beside read 1 MiB, depth 64 read 8 B, sleep | ",
                            "of iperf3 -l 128K")
                    .containsPattern("\\| write 8 B at a time \\| application write 8 B, adaptive \\| [0-9]");
        }

        JsonNode parts = new ObjectMapper().readTree(json.toFile()).get("parts");
        assertThat(programs(parts.get("LATENCY"))).contains("engine", "nio", "grpc-java");
        assertThat(programs(parts.get("APPLICATION")))
                .contains("engine", "application", "application gRPC", "application beside write 64 KiB, depth 16");
        if (Files.isWritable(Path.of("/sys/fs/cgroup"))) {
            // Only root can make control groups, which limit the processor time of both ends.
            assertThat(programs(parts.get("APPLICATION")))
                    .contains("application on all processors", "application under a quota of 1");
        }
        assertThat(programs(parts.get("STREAMS")))
                .contains("engine", "application", "limit", "grpc-java", "iperf3 -l 128K");
        assertThat(programs(parts.get("CONNECTIONS"))).contains("engine", "engine alone");
        // Each program has a figure in the columns of the first and of the last row.
        assertThat(Files.readString(document))
                .containsPattern("\\| Write of 64 KiB, Gbit/s( \\| [0-9.]+){6} \\|")
                .containsPattern("\\| Read of 8 B, p99 us( \\| [0-9.]+){3} \\|");
        if (Files.isExecutable(Path.of("/usr/bin/gnuplot"))) {
            assertThat(directory.resolve("plots/latency.svg")).content().contains("<svg");
        }
    }

    @Test
    void comparesWithAnotherBuildByTurns() throws IOException {
        Path json = directory.resolve("bench.json");

        try (OwnedProcess bench = bench(
                "--quick", "--time", "20ms", "--against", Programs.root().toString(), "--json", json.toString())) {
            assertThat(bench.awaitExit(Patience.LONG_LIMIT)).as(bench.text()).isZero();
            assertThat(bench.text())
                    .contains("of engine before", "of application before", "| application read 8 B, adaptive | ");
        }

        JsonNode parts = new ObjectMapper().readTree(json.toFile()).get("parts");
        assertThat(programs(parts.get("COMPARISON")))
                .contains(
                        "engine before",
                        "engine",
                        "application before",
                        "application",
                        "application beside write 1 MiB, depth 64",
                        "application before beside write 1 MiB, depth 64");
        JsonNode facts = parts.get("COMPARISON").get("facts");
        assertThat(facts.get("before")).isEqualTo(facts.get("commit"));
    }

    @Test
    void profilesBothEnds() throws IOException {
        assumeTrue(canProfile(), "perf is missing, or may not be used");
        Path json = directory.resolve("bench.json");

        try (OwnedProcess bench = bench("--quick", "--time", "200ms", "--only", "PROFILE", "--json", json.toString())) {
            assertThat(bench.awaitExit(Patience.LONG_LIMIT)).as(bench.text()).isZero();
        }

        JsonNode parts = new ObjectMapper().readTree(json.toFile()).get("parts");
        assertThat(programs(parts.get("PROFILE"))).contains("engine", "active end", "passive end");
        assertThat(parts.get("PROFILE").findValues("kernel_copy_percent")).isNotEmpty();
    }

    private static boolean canProfile() {
        try (OwnedProcess perf = OwnedProcess.start(
                "perf",
                List.of("perf", "record", "-q", "-e", "cpu-clock", "-o", "/dev/null", "true"),
                Map.of(),
                Programs.root())) {
            return perf.awaitExit() == 0;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    @Test
    void measuresOnANetwork() throws IOException {
        assumeTrue(Path.of("/var/run").toFile().canWrite(), "only root can make network namespaces");
        Path json = directory.resolve("bench.json");

        try (OwnedProcess bench = bench("--quick", "--time", "20ms", "--only", "NETWORK", "--json", json.toString())) {
            assertThat(bench.awaitExit(Patience.LONG_LIMIT)).as(bench.text()).isZero();
            assertThat(bench.text()).contains("| 64 KiB | engine read 64 KiB, ", "| 8 B | engine write 8 B, spin | ");
        }

        JsonNode part = new ObjectMapper().readTree(json.toFile()).get("parts").get("NETWORK");
        assertThat(programs(part)).contains("engine", "application", "iperf3 -l 128K", "nio");
    }

    @Test
    void saysThatItWasEndedByASignalAndNotThatAPeerFailed() {
        Path json = directory.resolve("bench.json");

        try (OwnedProcess bench = bench("--quick", "--only", "CONNECTIONS", "--json", json.toString())) {
            bench.awaitLine(line -> line.startsWith("CONNECTIONS 1/1"), Patience.LONG_LIMIT);
            bench.terminate();
            bench.awaitExit();

            assertThat(bench.text()).contains("ended by a signal").doesNotContain("failed");
        }
        assertThat(json).doesNotExist();
    }

    @Test
    void saysHowProcessorsAreNamed() {
        try (OwnedProcess bench = bench("--pin", "first:second")) {
            assertThat(bench.awaitExit()).isEqualTo(ExitCodes.USAGE);
            assertThat(bench.text()).contains("0-1:2-3");
        }
    }

    private static List<String> programs(JsonNode part) {
        return part.get("figures").findValuesAsText("program");
    }
}
