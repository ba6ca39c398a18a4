// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.ExampleProgram;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.SidecarPair;
import io.sidewarp.e2e.support.SidecarProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Runs the programs of {@code examples} with small sizes. A server and its client are of different languages, because the
 * layout in memory is the same in all of them.
 */
@ExtendWith(Logs.class)
class ExamplesIT {

    private static final int VERSIONS = 6;
    private static final String MEBIBYTES = "2";

    @RegisterExtension
    static final SidecarPair SIDECARS = new SidecarPair();

    private final List<OwnedProcess> owned = new ArrayList<>();
    private final String port = Integer.toString(Ports.free());
    private final String address = Link.LOOPBACK + ":" + port;

    @AfterEach
    void stop() {
        owned.reversed().forEach(OwnedProcess::close);
    }

    private OwnedProcess start(String file, SidecarProcess sidecar, String... arguments) {
        OwnedProcess program = ExampleProgram.start(file, sidecar, arguments);
        owned.add(program);
        return program;
    }

    /** Starts a server, and waits until it listens. */
    private OwnedProcess serve(String file, String... more) {
        List<String> arguments = new ArrayList<>(List.of("serve", port));
        arguments.addAll(List.of(more));
        OwnedProcess server = start(file, SIDECARS.right(), arguments.toArray(String[]::new));
        server.awaitLine(("listening at port " + port)::equals);
        return server;
    }

    /** Returns the output of a client that succeeds. */
    private List<String> succeed(String file, String... arguments) {
        OwnedProcess client = start(file, SIDECARS.left(), arguments);
        assertThat(client.awaitExit()).as(client.text()).isZero();
        return client.output();
    }

    @ParameterizedTest
    @CsvSource({"Hello.java, hello.py", "hello.py, hello.js", "hello.js, Hello.java"})
    void helloIsInTheMemoryOfTheServer(String serverFile, String clientFile) {
        OwnedProcess server = serve("hello/" + serverFile);

        List<String> output = succeed("hello/" + clientFile, "greet", address, "greetings");

        assertThat(output).last().isEqualTo("read back: greetings");
        assertThat(server.awaitExit()).isZero();
        assertThat(server.output()).last().isEqualTo("received: greetings");
    }

    @ParameterizedTest
    @CsvSource({"Store.java, store.py", "store.py, store.js", "store.js, Store.java"})
    void storeRepeatsTornReads(String serverFile, String clientFile) {
        serve("key-value-store/" + serverFile);
        String client = "key-value-store/" + clientFile;

        assertThat(succeed(client, "get", address, "greeting"))
                .last()
                .isEqualTo("version 1: hello, memory (0 torn reads)");
        assertThat(succeed(client, "get", address, "nothing")).last().isEqualTo("version 0:  (0 torn reads)");
        // The client fails if it sees a value that is torn.
        assertThat(succeed(client, "get", address, "clock", "300"))
                .last()
                .asString()
                .matches("version (\\d+): \\1 \\1 .*\\([1-9]\\d* torn reads\\)");
    }

    @ParameterizedTest
    @CsvSource({"Parameters.java, parameters.py", "parameters.py, Parameters.java", "parameters.py, parameters.py"})
    void parametersConverge(String serverFile, String otherFile) {
        OwnedProcess server = serve("parameter-server/" + serverFile, "2", MEBIBYTES);
        String versions = Integer.toString(VERSIONS);

        List<OwnedProcess> workers = List.of(
                start("parameter-server/" + serverFile, SIDECARS.left(), "work", address, versions, MEBIBYTES),
                start("parameter-server/" + otherFile, SIDECARS.left(), "work", address, versions, MEBIBYTES));

        int made = 0;
        for (OwnedProcess worker : workers) {
            assertThat(worker.awaitExit()).as(worker.text()).isZero();
            made += Integer.parseInt(worker.output().getLast().replaceAll("\\D", ""));
        }
        assertThat(made).isEqualTo(VERSIONS);
        assertThat(server.awaitExit()).isZero();
        List<String> output = server.output();
        // No two workers have claimed the same version.
        assertThat(output.subList(1, output.size() - 1))
                .containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, VERSIONS)
                        .mapToObj(version -> "version " + version)
                        .toList());
        double mean = Double.parseDouble(output.getLast().replaceFirst("the mean weight is ", ""));
        // Gradients of old weights overshoot the target of 3 for a while.
        assertThat(mean).isBetween(1.5, 5.0);
    }

    @ParameterizedTest
    @CsvSource({"AllReduce.java, all_reduce.py", "all_reduce.py, all_reduce.py"})
    void ringAddsTheArrays(String evenFile, String oddFile) {
        String addresses = String.join(
                ",",
                IntStream.range(0, 4)
                        .mapToObj(_ -> Link.LOOPBACK + ":" + Ports.free())
                        .toList());

        List<OwnedProcess> ring = IntStream.range(0, 4)
                .mapToObj(rank -> start(
                        "all-reduce/" + (rank % 2 == 0 ? evenFile : oddFile),
                        rank % 2 == 0 ? SIDECARS.left() : SIDECARS.right(),
                        Integer.toString(rank),
                        addresses,
                        "10001"))
                .toList();

        for (int rank = 0; rank < ring.size(); rank++) {
            OwnedProcess process = ring.get(rank);
            assertThat(process.awaitExit()).as(process.text()).isZero();
            assertThat(process.output()).last().asString().startsWith("rank " + rank + ": right sum of 10001 values");
        }
    }

    @ParameterizedTest
    @CsvSource({"Cache.java, cache.py", "cache.py, cache.js", "cache.js, Cache.java"})
    void cacheServesFilesOfItsDirectory(String serverFile, String clientFile, @TempDir Path scratch)
            throws IOException {
        Path files = Files.createDirectory(scratch.resolve("files"));
        byte[] content = new byte[3_000_001];
        new Random(7).nextBytes(content);
        Files.write(files.resolve("large"), content);
        Files.createFile(files.resolve("empty"));
        Files.writeString(scratch.resolve("secret"), "not in the directory");
        Files.createSymbolicLink(files.resolve("leak"), Path.of("../secret"));
        // A volume of a ConfigMap has such links.
        Files.writeString(Files.createDirectory(files.resolve("..version")).resolve("greeting"), "hello");
        Files.createSymbolicLink(files.resolve("..data"), Path.of("..version"));
        Files.createSymbolicLink(files.resolve("greeting"), Path.of("..data/greeting"));
        OwnedProcess server = serve("file-cache/" + serverFile, files.toString());
        String client = "file-cache/" + clientFile;
        Path copy = scratch.resolve("copy");

        succeed(client, "get", address, "large", copy.toString());
        assertThat(copy).hasBinaryContent(content);
        succeed(client, "get", address, "empty", copy.toString());
        assertThat(copy).isEmptyFile();
        succeed(client, "get", address, "greeting", copy.toString());
        assertThat(copy).hasContent("hello");
        for (String name : List.of("missing", "../secret", "leak", "..data")) {
            OwnedProcess refused = start(client, SIDECARS.left(), "get", address, name, copy.toString());
            assertThat(refused.awaitExit()).as(name).isEqualTo(1);
            assertThat(refused.output()).last().as(name).isEqualTo("rejected: there is no such file");
        }
        assertThat(server.output()).contains("loaded large");
    }
}
