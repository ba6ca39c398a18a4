// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Access;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import io.sidewarp.e2e.support.Tools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Generates the Go module again, and builds and runs its example, with Debian's Go and without a network. */
@ExtendWith(Logs.class)
class GoClientIT {

    private static final Path MODULE = Programs.root().resolve("clients/go");
    private static final Path BUILT = Programs.output().resolveSibling("go");
    private static final String LIBRARIES = "/usr/share/gocode";
    private static final String TEXT = "hello, memory";
    private static final Pattern BLOCK = Pattern.compile("```go\n(.*?)```", Pattern.DOTALL);

    @Test
    void committedCodeIsThatOfTheContract() throws IOException {
        Tools.need("protoc", "protobuf-compiler");
        Tools.need("protoc-gen-go", "protoc-gen-go");
        Tools.need("protoc-gen-go-grpc", "protoc-gen-go-grpc");
        Tools.needFile("/usr/include/google/protobuf/duration.proto", "libprotobuf-dev");
        Path generated = Files.createDirectories(BUILT.resolve("generated"));

        run("go-generate", Map.of(), MODULE.resolve("generate").toString(), generated.toString());

        assertThat(sources(generated)).isNotEmpty().isEqualTo(sources(MODULE.resolve("sidewarp")));
    }

    @Test
    void exampleWritesIntoTheMemoryOfAPeer() throws IOException {
        Path program = build();
        try (SidecarProcess left = SidecarProcess.start("left");
                SidecarProcess right = SidecarProcess.start("right");
                SidewarpClient client = right.client();
                Session there = client.openSession("there");
                SharedRegion inbox = there.createSharedRegion("inbox", 4096, Access.REMOTE_WRITE, Access.REMOTE_READ);
                Listener listener = there.listen(
                        Link.LOOPBACK,
                        0,
                        incoming -> incoming.accept(ConnectionOptions.builder()
                                .privateData(inbox.address().encode())
                                .build()))) {
            Map<String, String> environment = Map.of(
                    "SIDEWARP_API",
                    left.target(),
                    "SIDEWARP_VOLUME",
                    left.volume().toString());

            run("go-example", environment, program.toString(), Link.LOOPBACK + ":" + listener.port());

            byte[] received = new byte[TEXT.length()];
            inbox.buffer().get(received);
            assertThat(new String(received, StandardCharsets.UTF_8)).isEqualTo(TEXT);
            Patience.await("the session's files are gone")
                    .untilAsserted(() -> assertThat(left.volumeFiles()).isEmpty());
        }
    }

    @Test
    void readmeShowsLinesOfTheExample() throws IOException {
        Matcher block = BLOCK.matcher(Files.readString(MODULE.resolve("README.md")));
        String example = Files.readString(MODULE.resolve("example/main.go"));

        assertThat(block.find()).isTrue();
        assertThat(example.replace("\t", "")).contains(block.group(1).replace("\t", ""));
    }

    /** Builds the example as Debian builds Go programs: with the libraries of its packages. */
    private static Path build() throws IOException {
        Tools.need("go", "golang-go");
        Tools.needFile(LIBRARIES + "/src/google.golang.org/grpc", "golang-google-grpc-dev");
        Tools.needFile(LIBRARIES + "/src/google.golang.org/protobuf", "golang-google-protobuf-dev");
        Tools.needFile(
                LIBRARIES + "/src/github.com/golang/protobuf/proto/registry.go",
                "golang-github-golang-protobuf-1-5-dev");
        Path link = BUILT.resolve("src/sidewarp.io/clients/go");
        Files.createDirectories(link.getParent());
        if (!Files.isSymbolicLink(link)) {
            Files.createSymbolicLink(link, MODULE);
        }
        Path program = BUILT.resolve("example");
        Map<String, String> environment = Map.of(
                "GO111MODULE",
                "off",
                "GOFLAGS",
                "",
                "GOPATH",
                BUILT + ":" + LIBRARIES,
                "GOCACHE",
                BUILT.resolve("cache").toString());
        run("go-build", environment, "go", "build", "-o", program.toString(), "sidewarp.io/clients/go/example");
        return program;
    }

    /** Returns the content of all Go files by their names. */
    private static Map<String, String> sources(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            List<Path> sources =
                    files.filter(file -> file.toString().endsWith(".go")).toList();
            return sources.stream()
                    .collect(Collectors.toMap(file -> file.getFileName().toString(), GoClientIT::read));
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void run(String name, Map<String, String> environment, String... command) {
        Map<String, String> all = new HashMap<>(Programs.unbuilt());
        all.putAll(environment);
        try (OwnedProcess process = OwnedProcess.start(name, List.of(command), all, BUILT)) {
            assertThat(process.awaitExit(Patience.LONG_LIMIT))
                    .as(process.text())
                    .isZero();
        }
    }
}
