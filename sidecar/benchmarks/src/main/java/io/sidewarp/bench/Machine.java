// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench;

import io.sidewarp.bench.process.Build;
import io.sidewarp.bench.process.Network;
import io.sidewarp.bench.process.Pinning;
import io.sidewarp.bench.result.RunFacts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Collects facts about this machine and these sources. */
final class Machine {

    private static final String UNKNOWN = "unknown";

    private Machine() {}

    static RunFacts facts(
            Instant begun,
            Path root,
            Optional<Build> before,
            Pinning pinning,
            int repetitions,
            Duration time,
            double othersPercent) {
        return new RunFacts(
                begun.truncatedTo(ChronoUnit.SECONDS).toString(),
                commit(root),
                before.map(build -> commit(build.root())).orElse(null),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + ", TCP "
                        + Network.machinesCongestionControl(),
                field(Path.of("/proc/cpuinfo"), "model name"),
                Runtime.getRuntime().availableProcessors(),
                memoryMib(field(Path.of("/proc/meminfo"), "MemTotal")),
                System.getProperty("java.vendor") + " " + System.getProperty("java.vm.version"),
                pinning.toString(),
                repetitions,
                time.toMillis(),
                othersPercent);
    }

    /** Returns the text after a name and a colon in a file. */
    private static String field(Path file, String name) {
        try {
            return Files.readAllLines(file).stream()
                    .filter(line -> line.startsWith(name))
                    .findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).trim())
                    .orElse(UNKNOWN);
        } catch (IOException e) {
            return UNKNOWN;
        }
    }

    private static long memoryMib(String kilobytes) {
        String number = kilobytes.replace("kB", "").trim();
        return number.matches("\\d+") ? Long.parseLong(number) / 1024 : 0;
    }

    private static String commit(Path root) {
        String commit = git(root, "rev-parse", "--short", "HEAD");
        if (commit.isEmpty()) {
            return UNKNOWN;
        }
        return git(root, "status", "--porcelain", "--untracked-files=no").isEmpty() ? commit : commit + "-dirty";
    }

    /** Returns the output of git; empty if git fails. */
    private static String git(Path root, String... arguments) {
        List<String> command = new ArrayList<>(List.of("git", "-C", root.toString()));
        command.addAll(List.of(arguments));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
            return process.waitFor() == 0 ? output : "";
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
