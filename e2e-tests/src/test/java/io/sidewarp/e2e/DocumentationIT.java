// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.OwnedProcess;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Ports;
import io.sidewarp.e2e.support.Programs;
import io.sidewarp.e2e.support.SidecarProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs each block of commands in README.md and docs whose language is {@code sh}. Changes only ports and directories
 * below /tmp, because other processes may use them.
 */
@ExtendWith(Logs.class)
class DocumentationIT {

    private static final Pattern BLOCK = Pattern.compile("^```sh\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern PORT = Pattern.compile("(?<=127\\.0\\.0\\.1:)\\d+");

    /** Stops at the first command that fails, and leaves no process behind. */
    private static final String PRELUDE = "set -e\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n";

    record Block(String place, String commands) {
        @Override
        public String toString() {
            return place;
        }
    }

    static List<Block> blocks() throws IOException {
        List<Block> blocks = new ArrayList<>();
        List<Path> pages = new ArrayList<>(List.of(Programs.root().resolve("README.md")));
        try (Stream<Path> docs = Files.list(Programs.root().resolve("docs"))) {
            docs.filter(page -> page.toString().endsWith(".md")).sorted().forEach(pages::add);
        }
        for (Path page : pages) {
            String name = Programs.root().relativize(page).toString();
            for (MatchResult block :
                    BLOCK.matcher(Files.readString(page)).results().toList()) {
                blocks.add(new Block(
                        name + ": " + block.group(1).lines().findFirst().orElse(""), block.group(1)));
            }
        }
        assertThat(blocks).extracting(Block::place).anyMatch(place -> place.startsWith("README.md"));
        return blocks;
    }

    @ParameterizedTest
    @MethodSource("blocks")
    void documentedCommandsWork(Block block) {
        Path directory = Directories.temporary("doc");
        String commands = withFreePorts(block.commands()).replace("/tmp/", directory + "/");
        try (SidecarProcess sidecar = SidecarProcess.start("doc");
                OwnedProcess shell = OwnedProcess.start(
                        "doc",
                        List.of(
                                "bash",
                                "-c",
                                PRELUDE + commands.replace("unix:///run/sidewarp/api.sock", sidecar.target())),
                        Programs.unbuilt(),
                        Programs.root())) {
            assertThat(shell.awaitExit(Patience.LONG_LIMIT)).as(shell.text()).isZero();
        } finally {
            Directories.delete(directory);
        }
    }

    /** Replaces each named port by another port, consistently within the block. */
    private static String withFreePorts(String commands) {
        String replaced = commands;
        for (String port : PORT.matcher(commands)
                .results()
                .map(MatchResult::group)
                .distinct()
                .toList()) {
            replaced = replaced.replace("127.0.0.1:" + port, "127.0.0.1:" + Ports.free());
        }
        return replaced;
    }
}
