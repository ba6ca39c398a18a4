// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.manual;

import io.sidewarp.cli.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sidewarp man}. */
@Command(
        name = "man",
        header = "Write manual pages into a directory.",
        description = {"Writes sidewarp.1, and one page for each command. Their text is that of --help.", ""},
        footerHeading = "%nExamples:%n",
        footer = {"  sidewarp man ~/.local/share/man/man1", "  man sidewarp-perf"})
public final class ManCommand implements Callable<Integer> {

    @Parameters(paramLabel = "DIR", description = "The directory. It is made if it is missing.")
    private Path directory = Path.of("");

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        CommandSpec root = spec.root();
        List<CommandSpec> commands = Stream.concat(
                        Stream.of(root),
                        root.subcommands().values().stream()
                                .map(CommandLine::getCommandSpec)
                                .filter(command -> !command.usageMessage().hidden()))
                .toList();
        Files.createDirectories(directory);
        for (CommandSpec command : commands) {
            ManPage page = new ManPage(command);
            Files.writeString(directory.resolve(page.name() + ".1"), page.text());
        }
        spec.commandLine().getOut().println("wrote " + commands.size() + " pages to " + directory);
        return ExitCode.OK;
    }
}
