// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.manual;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Manual page of a command, in the man macros of roff, with the text of its help. */
final class ManPage {

    private final CommandSpec command;
    private final UsageMessageSpec usage;
    private final StringBuilder page = new StringBuilder();

    ManPage(CommandSpec command) {
        this.command = command;
        usage = command.usageMessage();
    }

    /** Returns the name of the page: {@code sidewarp}, {@code sidewarp-perf}. */
    String name() {
        return command.qualifiedName("-");
    }

    String text() {
        boolean isRoot = command.parent() == null;
        String[] summary = isRoot ? usage.description() : usage.header();
        page.append(".TH \"%s\" 1 %s \"%s\"\n"
                .formatted(escape(name().toUpperCase(Locale.ROOT)), LocalDate.now(ZoneOffset.UTC), escape(version())));
        // No justified text and no hyphens, which would be taken for parts of options.
        page.append(".ad l\n.nh\n");
        macro("SH", "NAME");
        text(name() + " - " + String.join(" ", summary).replaceAll("\\.$", ""));
        macro("SH", "SYNOPSIS");
        // Undoes the line ends, some of which are between the values of an option.
        text(new Help(command, Help.defaultColorScheme(Help.Ansi.OFF))
                .synopsis(0)
                .replaceAll(",\\s+", ",")
                .replaceAll("\\s+", " "));
        macro("SH", "DESCRIPTION");
        paragraphs(usage.description());
        if (!command.positionalParameters().isEmpty()) {
            macro("SH", "ARGUMENTS");
            command.positionalParameters().forEach(argument -> item(argument.paramLabel(), argument.description()));
        }
        macro("SH", "OPTIONS");
        command.options().stream()
                .filter(option -> !option.hidden())
                .sorted(Comparator.comparing(OptionSpec::longestName))
                .forEach(option -> item(form(option), option.description()));
        if (isRoot) {
            macro("SH", "COMMANDS");
            commands().forEach(other -> item(other.name(), other.usageMessage().header()));
        }
        macro("SH", "EXIT STATUS");
        usage.exitCodeList().forEach((code, meaning) -> item(code.trim(), meaning));
        if (usage.footer().length > 0) {
            macro("SH", "EXAMPLES");
            macro("EX");
            Stream.of(usage.footer()).forEach(this::text);
            macro("EE");
        }
        macro("SH", "SEE ALSO");
        text((isRoot ? commands() : Stream.of(command.root()))
                .map(other -> other.qualifiedName("-") + "(1)")
                .collect(Collectors.joining(", ")));
        return page.toString();
    }

    private Stream<CommandSpec> commands() {
        return command.subcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(other -> !other.usageMessage().hidden());
    }

    private String version() {
        return String.join(" ", command.root().version());
    }

    private static String form(OptionSpec option) {
        String names = String.join(", ", option.names());
        if (option.arity().max() == 0) {
            return names;
        }
        return names + (option.arity().min() == 0 ? " [" + option.paramLabel() + "]" : " " + option.paramLabel());
    }

    /** Writes text whose paragraphs are divided by empty lines. */
    private void paragraphs(String... lines) {
        for (String paragraph : String.join("\n", lines).strip().split("\n\n", -1)) {
            text(paragraph);
            macro("PP");
        }
        page.setLength(page.length() - ".PP\n".length());
    }

    private void item(String term, String... description) {
        macro("TP");
        macro("B", term);
        text(String.join(" ", description));
    }

    private void macro(String name, String... arguments) {
        page.append('.').append(name);
        for (String argument : arguments) {
            page.append(" \"").append(escape(argument)).append('"');
        }
        page.append('\n');
    }

    /** Writes lines of text, none of which is taken for a macro. */
    private void text(String text) {
        text.stripTrailing()
                .lines()
                .forEach(line ->
                        page.append(line.isEmpty() ? "" : "\\&" + escape(line)).append('\n'));
    }

    private static String escape(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-").replace("\"", "\\(dq");
    }
}
