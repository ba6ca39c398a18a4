// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench;

import io.sidewarp.bench.part.Lab;
import io.sidewarp.bench.part.PartRunner;
import io.sidewarp.bench.process.Build;
import io.sidewarp.bench.process.Load;
import io.sidewarp.bench.process.Network;
import io.sidewarp.bench.process.Pinning;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.RunDirectory;
import io.sidewarp.bench.report.BenchReport;
import io.sidewarp.bench.report.Plots;
import io.sidewarp.bench.result.BenchResults;
import io.sidewarp.bench.result.Part;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.RunFacts;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.Times;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Command {@code ./sidewarp bench}. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        header = "Measure Sidewarp beside other programs that move data on this machine.",
        description = {
            "Peers and Sidewarp alternate, each end has its own processors, and every figure is a median over"
                    + " repetitions with its spread. sidecar/benchmarks/README.md explains parts and figures.",
            ""
        },
        sortOptions = false,
        usageHelpAutoWidth = true)
public final class BenchCommand implements Callable<Integer> {

    /** Default time of a measurement, the shortest that iperf3 accepts. */
    private static final Duration TIME = Duration.ofSeconds(1);

    /**
     * Longest time of a measurement. One command takes up to eight times as long, and its answer has a timeout of two
     * minutes.
     */
    private static final Duration LONGEST_TIME = Duration.ofSeconds(10);

    private static final Duration QUICK_TIME = Duration.ofMillis(200);

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--only",
            paramLabel = "PART",
            split = ",",
            description =
                    "Parts to measure: ${COMPLETION-CANDIDATES}. Default: all but SCTP, TLS, COMPARISON and PROFILE, and"
                            + " without NETWORK where no network can be made.")
    private Set<Part> only = EnumSet.noneOf(Part.class);

    @Option(
            names = "--repetitions",
            paramLabel = "N",
            description = "How often each measurement is made. Default: 5, with --quick 1.")
    private Optional<Integer> repetitions = Optional.empty();

    @Option(
            names = "--time",
            paramLabel = "TIME",
            converter = Times.class,
            description = "Time of a measurement, at most 10s; half of it again goes before. Default: 1s, with --quick"
                    + " 200ms.")
    private Optional<Duration> time = Optional.empty();

    @Option(
            names = "--against",
            paramLabel = "DIR",
            description = "Compare with the programs that were built in another checkout, by turns: part COMPARISON,"
                    + " unless --only names others; PROFILE then is of both. A build without queues in shared"
                    + " memory is measured over its gRPC queue.")
    private Optional<Path> against = Optional.empty();

    @Option(names = "--report", description = "Measure nothing: report what is in the file of --json.")
    private boolean report;

    @Option(names = "--quick", description = "A short look: one repetition, fewer sizes, less warming up.")
    private boolean quick;

    @Option(
            names = "--pin",
            paramLabel = "A:B",
            defaultValue = "auto",
            description = "Processors of the end that keeps the time and of the other end, such as 0:1 or 0-1:2-3, or"
                    + " none. Default: one each, or two where there are four.")
    private String pin = "auto";

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Where the results go; parts that are not measured now are kept. Default: target/bench.json.")
    private Optional<Path> json = Optional.empty();

    @Option(
            names = "--write",
            paramLabel = "FILE",
            description =
                    "Put a summary of all parts into this document, between its marks, and the plots beside it if there"
                            + " is gnuplot.")
    private Optional<Path> document = Optional.empty();

    public static void main(String[] arguments) {
        AtomicBoolean complete = new AtomicBoolean();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            if (!complete.get()) {
                System.err.println("sidewarp bench: ended by a signal; repetitions that were complete are kept");
            }
        }));
        int status = commandLine().execute(arguments);
        complete.set(!RunDirectory.isRunEnding());
        System.exit(status);
    }

    static CommandLine commandLine() {
        return new CommandLine(new BenchCommand())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, commandLine, parsed) -> {
                    if (RunDirectory.isRunEnding()) {
                        return ExitCode.INTERRUPTED;
                    }
                    if (failure instanceof Failure known) {
                        commandLine.getErr().println("sidewarp bench: " + known.getMessage());
                        return known.exitCode();
                    }
                    failure.printStackTrace(commandLine.getErr());
                    return ExitCode.INTERNAL;
                });
    }

    @Override
    public Integer call() {
        Path results = json.orElse(root().resolve("target/bench.json"));
        check();
        Set<Part> parts = parts();
        Pinning pinning = pinning();
        Optional<Build> other = against.map(Build::at);
        BenchResults measured = BenchResults.read(results);
        document.ifPresent(BenchReport::check);
        RunDirectory directory = RunDirectory.create();
        try {
            for (Part part : parts) {
                measured = measure(part, measured, other, pinning, directory.path(), results);
            }
        } catch (RuntimeException e) {
            directory.keep();
            throw e;
        }
        PrintWriter out = spec.commandLine().getOut();
        out.print(BenchReport.text(measured));
        out.flush();
        write(measured);
        return ExitCode.OK;
    }

    private void write(BenchResults results) {
        if (document.isEmpty()) {
            return;
        }
        BenchReport.write(results, document.get());
        if (Plots.canDraw()) {
            Plots.draw(results, root(), document.get().resolveSibling("plots"));
        } else {
            spec.commandLine()
                    .getErr()
                    .println("The plots are left as they are, since gnuplot draws them"
                            + " (Debian and Ubuntu: apt-get install gnuplot-nox).");
        }
    }

    /** Measures a part. Stores each repetition at once, so that an interrupted run keeps its complete repetitions. */
    private BenchResults measure(
            Part part, BenchResults before, Optional<Build> other, Pinning pinning, Path directory, Path file) {
        Instant begun = Instant.now();
        Load load = Load.now();
        Recorder recorder = new Recorder();
        BenchResults results = before;
        for (int repetition = 1; repetition <= repetitions(); repetition++) {
            String prefix = part + " " + repetition + "/" + repetitions() + "  ";
            PartRunner.of(part)
                    .repeat(new Lab(
                            Build.own(root()),
                            other,
                            Place.on(pinning.active()),
                            Place.on(pinning.passive()),
                            directory,
                            time(),
                            quick,
                            "",
                            recorder,
                            line -> spec.commandLine().getErr().println(prefix + line)));
            RunFacts facts = Machine.facts(
                    begun,
                    root(),
                    other.filter(ignored -> part.compares()),
                    pinning,
                    repetition,
                    time(),
                    Load.now().othersPercentSince(load));
            results = before.with(part, new PartResult(facts, recorder.figures()));
            results.write(file);
        }
        return results;
    }

    private static Path root() {
        return Path.of(Optional.ofNullable(System.getenv("SIDEWARP_ROOT")).orElse("."))
                .toAbsolutePath();
    }

    private int repetitions() {
        return repetitions.orElse(quick ? 1 : 5);
    }

    private Duration time() {
        return time.orElse(quick ? QUICK_TIME : TIME);
    }

    private void check() {
        if (repetitions() < 1) {
            throw new ParameterException(
                    spec.commandLine(), "--repetitions is " + repetitions() + "; at least 1 is needed");
        }
        if (!time().isPositive()) {
            throw new ParameterException(spec.commandLine(), "--time has to be more than 0");
        }
        if (time().compareTo(LONGEST_TIME) > 0) {
            throw new ParameterException(
                    spec.commandLine(), "--time is at most 10s; --repetitions makes more of the measurements");
        }
    }

    private Set<Part> parts() {
        if (report) {
            return Set.of();
        }
        if (only.contains(Part.COMPARISON) && against.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "COMPARISON takes --against DIR, another checkout in which Sidewarp is built");
        }
        if (!only.isEmpty()) {
            return EnumSet.copyOf(only);
        }
        if (against.isPresent()) {
            return EnumSet.of(Part.COMPARISON);
        }
        Set<Part> parts = EnumSet.complementOf(EnumSet.of(Part.SCTP, Part.TLS, Part.COMPARISON, Part.PROFILE));
        Network.obstacle().ifPresent(obstacle -> {
            parts.remove(Part.NETWORK);
            spec.commandLine().getErr().println("NETWORK is left out: " + obstacle);
        });
        return parts;
    }

    private Pinning pinning() {
        try {
            return Pinning.parse(pin);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }
}
