// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Implements `./sidewarp fuzz`: fuzzes one target, or all targets one after the other, and sums up. Exit status 0 means
 * no finding, 1 a finding, 2 wrong arguments.
 */
final class FuzzCommand {

    private static final String USAGE = """
            Usage: ./sidewarp fuzz [TARGET...] [--time 1h] [--keep]

            Fuzzes the targets one after the other, --time each (default 1m; 90s, 10m, 2h). Without a target: all.
              --keep   take the smallest corpus that reaches as much into the repository afterwards
            Targets:
            """;

    private static final int OK = 0;
    private static final int FOUND = 1;
    private static final int WRONG_USE = 2;

    private final Path resources;
    private final Path directory;
    private final List<FuzzTarget> targets = new ArrayList<>();
    private Duration time = Duration.ofMinutes(1);
    private boolean keep;

    private FuzzCommand(Path resources, Path directory) {
        this.resources = resources;
        this.directory = directory;
    }

    /** @param arguments directory of the test resources, directory for results, and what the user said */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        FuzzCommand command = new FuzzCommand(Path.of(arguments[0]), Path.of(arguments[1]));
        int status;
        try {
            command.parse(Arrays.asList(arguments).subList(2, arguments.length));
            status = command.run();
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.err.print(USAGE);
            Arrays.stream(FuzzTarget.values()).forEach(target -> System.err.println("  " + target));
            status = WRONG_USE;
        }
        System.exit(status);
    }

    private void parse(List<String> arguments) {
        for (int i = 0; i < arguments.size(); i++) {
            switch (arguments.get(i)) {
                case "--keep" -> keep = true;
                case "--time" -> {
                    if (++i == arguments.size()) {
                        throw new IllegalArgumentException("--time needs a duration");
                    }
                    time = duration(arguments.get(i));
                }
                default -> targets.add(FuzzTarget.named(arguments.get(i)));
            }
        }
        if (targets.isEmpty()) {
            targets.addAll(List.of(FuzzTarget.values()));
        }
    }

    private static Duration duration(String text) {
        try {
            return Duration.parse("PT" + text.toUpperCase(Locale.ROOT));
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("not a duration: " + text, e);
        }
    }

    private int run() throws IOException, InterruptedException {
        int status = OK;
        for (FuzzTarget target : targets) {
            FuzzRun.Result result = run(target);
            if (!result.findings().isEmpty() || result.exitCode() != 0) {
                status = FOUND;
            }
        }
        return status;
    }

    private FuzzRun.Result run(FuzzTarget target) throws IOException, InterruptedException {
        Path file = Corpus.file(resources, target);
        Path logFile = directory.resolve(target + ".log");
        Files.createDirectories(directory);
        System.out.printf("%s: %d s, log in %s%n", target, time.toSeconds(), logFile);
        try (PrintStream log = new PrintStream(Files.newOutputStream(logFile), true, StandardCharsets.UTF_8)) {
            FuzzRun run = new FuzzRun(target, directory, log);
            Corpus.unpack(Corpus.read(file), run.corpus());
            FuzzRun.Result result = run.fuzz("-max_total_time=" + time.toSeconds());
            System.out.printf(
                    "%s: %,d executions, %d edges covered, %d inputs in the corpus, %d findings%n",
                    target,
                    result.executions(),
                    result.coverage(),
                    result.corpus(),
                    result.findings().size());
            result.findings().forEach(finding -> System.out.println("  " + finding));
            if (result.findings().isEmpty() && result.exitCode() != OK) {
                System.out.printf("  Jazzer ended with status %d; see the log%n", result.exitCode());
            }
            if (keep) {
                keep(run, directory.resolve(target.toString()).resolve("minimized"), file);
            }
            return result;
        }
    }

    private static void keep(FuzzRun run, Path minimized, Path file) throws IOException, InterruptedException {
        run.minimize(minimized);
        Corpus.pack(minimized, file);
    }
}
