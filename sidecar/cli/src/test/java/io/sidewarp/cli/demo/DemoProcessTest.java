// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class DemoProcessTest {

    private static final Pattern SIDECAR_FLAGS =
            Pattern.compile("^readonly SIDECAR_FLAGS=\\((.*?)\\)", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern MEMORY_AND_COMPILER = Pattern.compile("-X\\S+");

    @Test
    void sidecarsOfTheDemoRunWithTheFlagsOfTheScript() throws Exception {
        String script = Files.readString(Path.of(System.getProperty("sidewarp.root"), "tools/launch.sh"));

        String flags = SIDECAR_FLAGS
                .matcher(script)
                .results()
                .map(flag -> flag.group(1))
                .findFirst()
                .orElseThrow();

        assertThat(DemoProcess.SIDECAR_FLAGS)
                .containsExactlyElementsOf(MEMORY_AND_COMPILER
                        .matcher(flags)
                        .results()
                        .map(MatchResult::group)
                        .toList());
    }
}
