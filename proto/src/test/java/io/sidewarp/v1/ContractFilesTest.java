// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.v1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.Any;
import com.google.rpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the directory of the contract, as programs in other languages use it. */
class ContractFilesTest {

    private static final Path CONTRACT = Path.of("src/main/proto").toAbsolutePath();
    private static final String STATUS = "google/rpc/status.proto";

    @TempDir
    private Path directory;

    @Test
    void statusIsTheFileOfGoogleapis() throws IOException {
        assertThat(CONTRACT.resolve(STATUS))
                .hasBinaryContent(resource(Status.class, STATUS).readAllBytes());
    }

    @Test
    void protocOfThisBuildGeneratesTheWholeContract() throws Exception {
        try (Stream<Path> programs = Files.list(Path.of("target/protoc-plugins").toAbsolutePath())) {
            Path protoc = programs.filter(
                            program -> program.getFileName().toString().matches("protoc-\\d.*"))
                    .findAny()
                    .orElseThrow();
            generatesTheWholeContract(protoc);
        }
    }

    @Test
    void protocOfTheMachineGeneratesTheWholeContract() throws Exception {
        Optional<Path> protoc = Stream.of(System.getenv("PATH").split(":"))
                .map(place -> Path.of(place, "protoc"))
                .filter(Files::isExecutable)
                .findFirst();
        assumeTrue(protoc.isPresent(), "no protoc is installed (Debian: protobuf-compiler)");

        generatesTheWholeContract(protoc.orElseThrow());
    }

    private void generatesTheWholeContract(Path protoc) throws IOException, InterruptedException {
        Path known = Files.createDirectories(directory.resolve("known/google/protobuf"));
        for (String name : List.of("any", "duration")) {
            Files.copy(resource(Any.class, "google/protobuf/" + name + ".proto"), known.resolve(name + ".proto"));
        }
        Path generated = Files.createDirectory(directory.resolve("generated"));
        List<String> command = new ArrayList<>(List.of(
                protoc.toString(), "--python_out=" + generated, "-I" + CONTRACT, "-I" + directory.resolve("known")));
        List<Path> files;
        try (Stream<Path> all = Files.walk(CONTRACT)) {
            files = all.filter(Files::isRegularFile).toList();
        }
        files.forEach(file -> command.add(file.toString()));

        Path said = directory.resolve("said");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(said).content().isEmpty();
        assertThat(process.exitValue()).isZero();
        assertThat(files).hasSizeGreaterThan(1).allSatisfy(file -> {
            String name = CONTRACT.relativize(file).toString().replace(".proto", "_pb2.py");
            assertThat(generated.resolve(name)).isRegularFile();
        });
    }

    private static InputStream resource(Class<?> neighbour, String name) {
        return Objects.requireNonNull(neighbour.getClassLoader().getResourceAsStream(name), name);
    }
}
