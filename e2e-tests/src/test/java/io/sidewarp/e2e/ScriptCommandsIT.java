// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.CliProcess.Ended;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the start of commands by {@code ./sidewarp}. A copy of the script uses a JDK that prints its arguments. */
@ExtendWith(Logs.class)
class ScriptCommandsIT {

    private Path directory;

    @BeforeEach
    void copy() throws IOException {
        directory = Directories.temporary("script-commands");
        Programs.copyScript(directory);
        Path bin = Files.createDirectories(directory.resolve("jdk/bin"));
        Files.writeString(directory.resolve("jdk/release"), "JAVA_VERSION=\"25\"\n");
        for (String program : List.of("java", "javac")) {
            Files.writeString(bin.resolve(program), "#!/bin/sh\necho \"$*\"\n");
            Files.setPosixFilePermissions(bin.resolve(program), PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    @AfterEach
    void delete() {
        Directories.delete(directory);
    }

    private void playPackaged() throws IOException {
        for (String jar :
                List.of("sidecar/service/target/quarkus-app/quarkus-run.jar", "sidecar/cli/target/sidewarp-cli.jar")) {
            Files.createDirectories(directory.resolve(jar).getParent());
            Files.createFile(directory.resolve(jar));
        }
    }

    private Ended run(String line) {
        List<String> command = new ArrayList<>(List.of("./sidewarp"));
        command.addAll(List.of(line.split(" ")));
        Map<String, String> environment =
                Map.of("JAVA_HOME", directory.resolve("jdk").toString(), "SIDEWARP_BUILD", "never");
        try (OwnedProcess process = OwnedProcess.start("script", command, environment, directory)) {
            int exitCode = process.awaitExit();
            return new Ended(exitCode, process.output());
        }
    }

    /** The flags that the JVM gets for a command line. */
    private String flags(String line) throws IOException {
        playPackaged();
        Ended ended = run(line);
        assertThat(ended.exitCode()).as(ended.text()).isZero();
        assertThat(ended.text()).contains(" -jar ").endsWith(line);
        return ended.text().substring(0, ended.text().indexOf(" -jar "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cp a b:1/c",
                "serve --dir d 1",
                "--wait 5s --api unix:///a/api.sock perf write a:1",
                "perftest write_bw a:1",
                "demo"
            })
    void commandsThatMoveDataHaveTheOptimisingCompiler(String line) throws IOException {
        assertThat(flags(line)).doesNotContain("TieredStopAtLevel");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ping a:1", "--volume /cp show device", "top", "completion bash", "man d", "--version"})
    void commandsThatEndSoonDoWithoutTheOptimisingCompiler(String line) throws IOException {
        assertThat(flags(line)).contains("-XX:TieredStopAtLevel=1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fly", "--wait 5s fly cp"})
    void unknownCommandIsRefusedBeforeAnythingIsBuilt(String line) {
        Ended ended = run(line);

        assertThat(ended.exitCode()).isEqualTo(2);
        assertThat(ended.output())
                .containsExactly("sidewarp: no such command: fly. ./sidewarp --help lists the commands.");
    }

    @Test
    void helpShowsCommandsOfUsersApartFromThoseOfMaintainers() {
        String said = run("--help").text();

        String users = said.substring(0, said.indexOf("For those who change Sidewarp"));
        assertThat(users)
                .contains(
                        "  demo ",
                        "  sidecar ",
                        "  ping ",
                        "  perf ",
                        "  cp ",
                        "  serve ",
                        "  show ",
                        "  top ",
                        "  man ")
                .doesNotContain("  build ", "  test ", "  fuzz ");
        assertThat(said.substring(users.length())).contains("  build ", "  test ", "  images ", "  bench ", "  fuzz ");
    }
}
