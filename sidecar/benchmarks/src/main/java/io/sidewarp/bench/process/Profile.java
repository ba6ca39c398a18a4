// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.result.Metric;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A profile of a JVM by perf, from {@link #begin} to {@link #end}. */
public final class Profile implements AutoCloseable {

    /**
     * Samples a second. Sampling uses a timer, since virtual machines often have no counters. A much higher rate slows
     * the profiled program up to ten times.
     */
    private static final int RATE = 197;

    private static final String HINT =
            "a profile takes perf, Debian and Ubuntu: apt-get install linux-perf, and root or"
                    + " kernel.perf_event_paranoid of at most 1";

    /** Line of the report for a symbol: share, location ([k] or [.]), name. */
    private static final Pattern LINE = Pattern.compile("\\s*([0-9.]+)%\\s+\\[(.)]\\s+(.+?)(\\s+-)*\\s*");

    private static final List<String> KERNEL_COPIES = List.of("_from_iter", "_to_iter", "copy_user", "rep_movs");

    private final long pid;
    private final Path data;
    private final ChildProcess perf;

    private Profile(long pid, Path data, ChildProcess perf) {
        this.pid = pid;
        this.data = data;
        this.perf = perf;
    }

    /**
     * Begins to sample.
     *
     * @param pid number of a JVM of this user
     * @param directory directory for files
     */
    public static Profile begin(long pid, Path directory) {
        Path data = directory.resolve("perf-" + pid + ".data");
        List<String> command = new ArrayList<>(List.of("perf", "record", "-q", "-e", "cpu-clock"));
        command.addAll(List.of("-F", String.valueOf(RATE), "-o", data.toString(), "-p", String.valueOf(pid)));
        return new Profile(
                pid, data, ChildProcess.start("perf record", command, Map.of(), directory.resolve("perf.log")));
    }

    /** Ends sampling. Returns the percentage of samples for each kind of work. */
    public Map<Metric, Double> end() {
        // perf writes its samples when it is asked to end.
        perf.close();
        // Writes the names of compiled methods to the file in which perf looks for them.
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        ChildProcess.run(HINT, List.of(jcmd, String.valueOf(pid), "Compiler.perfmap", map().toString()));
        List<String> report = new ArrayList<>(List.of("perf", "report", "-q", "-i", data.toString(), "--stdio"));
        report.addAll(List.of("--sort", "symbol", "--percent-limit", "0"));
        return parse(ChildProcess.run(HINT, report));
    }

    private Path map() {
        return Path.of("/tmp", "perf-" + pid + ".map");
    }

    /** Sorts the symbols of perf's report by kind of work. */
    static Map<Metric, Double> parse(String report) {
        Map<Metric, Double> percent = new EnumMap<>(Metric.class);
        report.lines()
                .map(LINE::matcher)
                .filter(Matcher::matches)
                .forEach(line -> percent.merge(
                        kind(line.group(2).equals("k"), line.group(3)),
                        Double.parseDouble(line.group(1)),
                        Double::sum));
        return percent;
    }

    private static Metric kind(boolean kernel, String symbol) {
        if (kernel) {
            return KERNEL_COPIES.stream().anyMatch(symbol::contains)
                    ? Metric.KERNEL_COPY_PERCENT
                    : Metric.KERNEL_PERCENT;
        }
        // The initial stubs of the JVM contain the CRC stubs, and the final stubs contain the copy stubs.
        return switch (symbol) {
            case "StubRoutines (finalstubs)" -> Metric.MEMORY_COPY_PERCENT;
            case "StubRoutines (initialstubs)" -> Metric.CRC_PERCENT;
            // Names of methods end with their parameters.
            default ->
                symbol.endsWith(")") || symbol.equals("Interpreter") ? Metric.JAVA_PERCENT : Metric.NATIVE_PERCENT;
        };
    }

    @Override
    public void close() {
        perf.close();
        try {
            Files.deleteIfExists(data);
            Files.deleteIfExists(map());
        } catch (IOException e) {
            throw new Failure(ExitCode.IO_ERROR, "cannot remove the files of a profile: " + e.getMessage(), e);
        }
    }
}
