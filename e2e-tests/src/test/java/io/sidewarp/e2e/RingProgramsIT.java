// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs programs in C and in Python that use rings as docs/rings.md describes them, each at a packaged sidecar. */
@ExtendWith(Logs.class)
class RingProgramsIT {

    private static final Path SOURCES = Programs.root().resolve("e2e-tests/rings");
    private static final Path BUILT = Programs.output().resolveSibling("rings");

    /** Debian's, whatever is on the PATH: it has the modules of Debian's packages. */
    private static final String PYTHON = "/usr/bin/python3";

    /** More messages than any test has time for. */
    private static final int ENDLESS = 100_000_000;

    private static SidecarProcess left;
    private static SidecarProcess right;

    enum Language {
        C,
        PYTHON
    }

    @BeforeAll
    static void buildProgramsAndStartSidecars() {
        Tools.need("gcc", "gcc");
        Tools.need("protoc", "protobuf-compiler");
        Tools.need("grpc_python_plugin", "protobuf-compiler-grpc");
        Tools.needFile("/usr/include/google/protobuf/duration.proto", "libprotobuf-dev");
        Tools.needFile("/usr/lib/python3/dist-packages/grpc", "python3-grpcio");
        Tools.needFile("/usr/lib/python3/dist-packages/google/protobuf", "python3-protobuf");
        OwnedProcess build = OwnedProcess.start(
                "rings-build", List.of(SOURCES.resolve("build").toString(), BUILT.toString()));
        assertThat(build.awaitExit()).as(build.text()).isZero();
        left = SidecarProcess.start("left");
        right = SidecarProcess.start("right");
    }

    @AfterAll
    static void stopSidecars() {
        // A sidecar is missing where a tool is.
        for (SidecarProcess sidecar : Arrays.asList(left, right)) {
            if (sidecar != null) {
                sidecar.close();
            }
        }
    }

    @AfterEach
    void nothingIsLeft() {
        Patience.await("the shared volumes are empty again").untilAsserted(() -> {
            assertThat(left.volumeFiles()).isEmpty();
            assertThat(right.volumeFiles()).isEmpty();
        });
    }

    @ParameterizedTest
    @CsvSource({"C, C", "PYTHON, PYTHON", "C, PYTHON", "PYTHON, C"})
    void programsExchangeMessagesAndMemory(Language clientLanguage, Language serverLanguage) {
        try (OwnedProcess server = startServer(serverLanguage, 1000);
                OwnedProcess client = startClient(clientLanguage, 1000, server)) {
            for (OwnedProcess side : List.of(client, server)) {
                assertThat(side.awaitExit()).as(side.text()).isZero();
                assertThat(side.output().getLast()).isEqualTo("done");
                assertThat(side.output()).anyMatch(line -> line.matches("refused code \\d+, retry \\d+: .+"));
            }
        }
    }

    @Test
    void ringFilesOfKilledProgramAreRemoved() {
        try (OwnedProcess server = startServer(Language.C, ENDLESS);
                OwnedProcess client = startClient(Language.C, ENDLESS, server)) {
            client.awaitLine("exchanging"::equals);
            List<Path> rings =
                    words(client, "rings").map(left.volume()::resolve).toList();
            assertThat(rings).hasSize(3).allMatch(Files::exists);
            long pid = words(client, "program")
                    .mapToLong(Long::parseLong)
                    .findFirst()
                    .orElseThrow();

            ProcessHandle.of(pid).orElseThrow().destroyForcibly();

            client.awaitLine(line -> line.startsWith("program ended"));
            Patience.await("the sidecar removes the ring files")
                    .untilAsserted(() -> assertThat(left.volumeFiles()).doesNotContainAnyElementsOf(rings));
            assertThat(left.volumeFiles())
                    .as("the session goes on")
                    .contains(left.volume().resolve("exchange-client"));
            client.say("");
            assertThat(client.awaitExit()).as(client.text()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void constantsAndRecordsAreThoseOfTheDocument(Language language) throws Exception {
        List<String> command = language == Language.C
                ? List.of(BUILT.resolve("vector").toString())
                : List.of(PYTHON, BUILT.resolve("vector.py").toString());
        List<String> documented = Files.readAllLines(Programs.root().resolve("docs/rings-vector.txt")).stream()
                .filter(line -> line.startsWith("constant ") || line.startsWith("record "))
                .toList();

        try (OwnedProcess program = OwnedProcess.start("rings-vector", command)) {
            assertThat(program.awaitExit()).as(program.text()).isZero();
            assertThat(program.output()).containsExactlyInAnyOrderElementsOf(documented);
        }
    }

    private static OwnedProcess startServer(Language language, int messages) {
        return start(right, "server", language, messages);
    }

    private static OwnedProcess startClient(Language language, int messages, OwnedProcess server) {
        server.awaitLine(line -> line.startsWith("port "));
        return start(
                left,
                "client",
                language,
                messages,
                "--port",
                words(server, "port").findFirst().orElseThrow());
    }

    private static OwnedProcess start(
            SidecarProcess sidecar, String role, Language language, int messages, String... more) {
        List<String> command = new ArrayList<>(List.of(
                PYTHON,
                BUILT.resolve("exchange.py").toString(),
                role,
                "--api",
                sidecar.socket().toString(),
                "--volume",
                sidecar.volume().toString(),
                "--messages",
                Integer.toString(messages)));
        if (language == Language.C) {
            command.addAll(List.of("--program", BUILT.resolve("exchange").toString()));
        }
        command.addAll(List.of(more));
        return OwnedProcess.start("rings-" + role, command, Map.of(), BUILT);
    }

    /** The words behind the first one of the line that begins with it. */
    private static Stream<String> words(OwnedProcess process, String first) {
        String line = process.awaitLine(text -> text.startsWith(first + " "));
        return Arrays.stream(line.split(" ")).skip(1);
    }
}
