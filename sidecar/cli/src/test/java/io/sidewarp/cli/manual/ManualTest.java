// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.manual;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.cli.Sidewarp;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ManualTest {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();

    private void run(String... arguments) {
        CommandLine commandLine = Sidewarp.commandLine(Map.of());
        commandLine.setOut(new PrintWriter(out));
        assertThat(commandLine.execute(arguments)).isZero();
    }

    @Test
    void eachCommandHasAPageExceptTheHelpersOfTheDemo() throws IOException {
        run("man", directory.resolve("new").toString());

        try (Stream<Path> files = Files.list(directory.resolve("new"))) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .contains("sidewarp.1", "sidewarp-cp.1", "sidewarp-top.1", "sidewarp-man.1")
                    .noneMatch(name -> name.startsWith("sidewarp-demo-"));
        }
    }

    @Test
    void aPageHasTheTextOfTheHelp() throws IOException {
        run("man", directory.toString());

        String page = Files.readString(directory.resolve("sidewarp-show.1"));
        assertThat(page)
                .contains(".SH \"NAME\"\n\\&sidewarp\\-show \\- Show connections, ")
                .contains(".B \"\\-\\-watch [INTERVAL]\"\n\\&Show it again and again")
                .contains("\\&One of connections, associations, regions, device, sessions.\n")
                .contains(".B \"75\"\n\\&the peer cannot be reached")
                .contains("\\&  sidewarp show device \\-\\-json\n.EE");
        assertThat(Files.readString(directory.resolve("sidewarp.1")))
                .contains(".SH \"COMMANDS\"")
                .contains("sidewarp\\-show(1)")
                .doesNotContain("demo\\-", "\\-\\-wait,");
    }

    @Test
    void noTextIsTakenForAMacro() throws IOException {
        run("man", directory.toString());

        List<String> macros = List.of(".TH", ".ad", ".nh", ".SH", ".TP", ".PP", ".B", ".EX", ".EE");
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                assertThat(Files.readAllLines(file))
                        .allMatch(line ->
                                line.isEmpty() || line.startsWith("\\&") || macros.contains(line.split(" ", 2)[0]));
            }
        }
    }

    @Test
    void theScriptOfShellsKnowsCommandsAndOptions() {
        run("completion", "bash");

        assertThat(out.toString())
                .startsWith("#!/usr/bin/env bash")
                .contains("complete -F _complete_sidewarp", "'--interval'", "top", "'--recursive'")
                .doesNotContain("demo-sender");
    }
}
