// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.cli.Sidewarp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ConnectionFlagsTest {

    private static final Pattern COMMAND = Pattern.compile("`([a-z]+)`");
    private static final Pattern OPTION = Pattern.compile("--[a-z-]+");

    private final Map<String, CommandLine> commands =
            Sidewarp.commandLine(Map.of()).getSubcommands();

    @Test
    void theDocumentationNamesTheCommandsThatHaveThem() throws IOException {
        String chapter = chapter("## How connections are made");
        String sentence = chapter.substring(0, chapter.indexOf(" take these"));
        List<String> options = chapter.lines()
                .filter(line -> line.startsWith("| `--"))
                .map(line -> line.substring(0, line.indexOf('|', 1)))
                .flatMap(names -> OPTION.matcher(names).results().map(MatchResult::group))
                .toList();

        assertThat(options).contains("--llp", "--no-crc", "--connect-timeout");
        List<String> named =
                COMMAND.matcher(sentence).results().map(name -> name.group(1)).toList();
        assertThat(named).contains("ping", "serve");
        assertThat(named)
                .allSatisfy(name -> assertThat(
                                commands.get(name).getCommandSpec().optionsMap().keySet())
                        .containsAll(options));
    }

    private static String chapter(String title) throws IOException {
        String text = Files.readString(Path.of(System.getProperty("sidewarp.root"), "docs", "cli.md"));
        int begin = text.indexOf(title);
        return text.substring(begin, text.indexOf("\n## ", begin));
    }
}
