// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One run of Jazzer on one target. Runs in its own process, because Jazzer's agent changes the classes that it
 * instruments.
 */
final class FuzzRun {

    /**
     * Result of a run.
     *
     * @param coverage edges of the program that were reached
     * @param findings inputs that broke an invariant
     */
    record Result(long executions, long coverage, long corpus, List<Path> findings, int exitCode) {}

    private static final Pattern PROGRESS =
            Pattern.compile("#(?<executions>\\d+)\\s.*cov: (?<coverage>\\d+).*corp: (?<corpus>\\d+)");
    private static final Pattern EXECUTIONS = Pattern.compile("stat::number_of_executed_units: (\\d+)");

    /**
     * Instrumented classes: the engine without the harness, and without the drawing of STags, whose loops give no
     * information.
     */
    private static final String INSTRUMENTED = "io.sidewarp.engine.llp.**:io.sidewarp.engine.ddp.**:"
            + "io.sidewarp.engine.rdmap.**:io.sidewarp.engine.memory.TaggedAccess:io.sidewarp.engine.memory.MemoryRegion";

    private static final int LONGEST_INPUT = 1024;
    /** An input that never ends is to be found, not one that is slow on a busy machine. */
    private static final int SECONDS_PER_INPUT = 60;

    private static final int MEGABYTES = 2048;
    private static final int MOST_FINDINGS = 10;

    private final FuzzTarget target;
    private final Path directory;
    private final PrintStream log;

    private long executions;
    private long coverage;
    private long corpus;

    /**
     * @param directory gets the corpus and the findings
     * @param log gets what Jazzer says
     */
    FuzzRun(FuzzTarget target, Path directory, PrintStream log) {
        this.target = target;
        this.directory = directory;
        this.log = log;
    }

    /** Inputs that the fuzzer starts from, and to which it adds. */
    Path corpus() {
        return directory.resolve(target.toString()).resolve("corpus");
    }

    private Path findings() {
        return directory.resolve(target.toString()).resolve("findings");
    }

    /**
     * Fuzzes.
     *
     * @param limits of libFuzzer, such as {@code -runs=10000} or {@code -max_total_time=60}
     */
    Result fuzz(String... limits) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(corpus().toString(), "-len_control=20"));
        arguments.addAll(List.of(limits));
        return jazzer(arguments);
    }

    /** Puts the fewest inputs into a directory that reach all that the corpus reaches. */
    Result minimize(Path into) throws IOException, InterruptedException {
        Files.createDirectories(into);
        return jazzer(List.of("-set_cover_merge=1", into.toString(), corpus().toString()));
    }

    private Result jazzer(List<String> arguments) throws IOException, InterruptedException {
        Files.createDirectories(corpus());
        Files.createDirectories(findings());
        Path launcher = launcher();
        List<String> command = new ArrayList<>(List.of(
                "sh",
                launcher.toString(),
                "--target_class=" + JazzerEntry.class.getName(),
                "--target_args=" + target,
                "--instrumentation_includes=" + INSTRUMENTED,
                // The hooks look for injections into SQL, shells and the like.
                "--disabled_hooks=**",
                "--keep_going=" + MOST_FINDINGS,
                "--reproducer_path=" + findings(),
                "-artifact_prefix=" + findings() + "/",
                "-print_final_stats=1",
                "-max_len=" + LONGEST_INPUT,
                "-timeout=" + SECONDS_PER_INPUT,
                "-rss_limit_mb=" + MEGABYTES));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().merge("PATH", launcher.getParent().toString(), (path, bin) -> bin + ":" + path);
        Process process = builder.start();
        try (BufferedReader output = process.inputReader()) {
            output.lines().forEach(this::onLine);
        } finally {
            process.destroyForcibly();
        }
        int exitCode = process.waitFor();
        return new Result(executions, coverage, corpus, findingsSoFar(), exitCode);
    }

    /** A program named jazzer: libFuzzer starts itself by that name when it merges. */
    private Path launcher() throws IOException {
        Path launcher = directory.resolve("bin").resolve("jazzer");
        Files.createDirectories(launcher.getParent());
        Files.writeString(launcher, """
                #!/bin/sh
                exec '%s' --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \\
                  -XX:+EnableDynamicAgentLoading -XX:+UseSerialGC -Xmx512m \\
                  -cp '%s' com.code_intelligence.jazzer.Jazzer "$@"
                """.formatted(
                Path.of(System.getProperty("java.home"), "bin", "java"), System.getProperty("java.class.path")));
        Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwxr-xr-x"));
        return launcher;
    }

    private void onLine(String line) {
        log.println(line);
        Matcher progress = PROGRESS.matcher(line);
        if (progress.find()) {
            executions = Long.parseLong(progress.group("executions"));
            coverage = Long.parseLong(progress.group("coverage"));
            corpus = Long.parseLong(progress.group("corpus"));
        }
        Matcher total = EXECUTIONS.matcher(line);
        if (total.find()) {
            executions = Long.parseLong(total.group(1));
        }
    }

    private List<Path> findingsSoFar() throws IOException {
        try (Stream<Path> files = Files.list(findings())) {
            return files.filter(file -> !file.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }
}
