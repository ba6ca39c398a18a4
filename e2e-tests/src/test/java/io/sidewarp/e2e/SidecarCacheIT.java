// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests the JVM's cache of the sidecar's classes, which {@code ./sidewarp build} makes. */
@ExtendWith(Logs.class)
class SidecarCacheIT {

    private Path directory;

    @BeforeEach
    void prepare() {
        directory = Directories.temporary("cache");
    }

    @AfterEach
    void cleanUp() {
        Directories.delete(directory);
    }

    @Test
    void aSidecarThatIsStartedLaterHasItsClassesFromThere() throws IOException {
        train();
        Path loaded = directory.resolve("loaded");

        startSidecar("-Xlog:class+load:file=" + loaded);

        assertThat(Files.readAllLines(loaded))
                .anySatisfy(line ->
                        assertThat(line).contains("io.sidewarp.service.lifecycle.Sidecar source: shared objects file"));
    }

    @Test
    void aJvmThatCannotUseItSaysNothing() throws IOException {
        train();

        // The cache has which packages were open when it was made.
        List<String> output = startSidecar("--add-opens=java.base/java.util=ALL-UNNAMED");

        assertThat(output).allSatisfy(line -> assertThat(line).doesNotContain("[error", "[warning"));
    }

    @Test
    void theNameOfTheTemporaryDirectoryMayBeLong() throws IOException {
        Path temporary = Files.createDirectories(directory.resolve("d".repeat(100)));

        train(Map.of("TMPDIR", temporary.toString()));

        assertThat(temporary).isEmptyDirectory();
    }

    private static void train() {
        train(Map.of());
    }

    private static void train(Map<String, String> environment) {
        Path cache = Programs.serviceJar().getParent().resolveSibling("sidecar.aot");
        List<String> training = new ArrayList<>(List.of("sidecar/train", Programs.java(), cache.toString()));
        training.addAll(Programs.jvmFlags());
        training.addAll(Programs.sidecarFlags());
        try (OwnedProcess train = OwnedProcess.start("train", training, environment, Programs.root())) {
            assertThat(train.awaitExit(Patience.LONG_LIMIT)).as(train.text()).isZero();
        }
    }

    /** Starts a sidecar, and returns what it says until it serves. */
    private List<String> startSidecar(String flag) throws IOException {
        List<String> command = List.of(
                "./sidewarp",
                "sidecar",
                flag,
                "-Dsidewarp.api.socket=" + directory.resolve("api.sock"),
                "-Dsidewarp.shared-volume=" + Files.createDirectory(directory.resolve("volume")),
                "-Dsidewarp.management.port=0");
        try (OwnedProcess sidecar = OwnedProcess.start("sidecar", command, Programs.unbuilt(), Programs.root())) {
            sidecar.awaitLine(line -> line.contains("event=started"));
            return sidecar.output();
        }
    }
}
