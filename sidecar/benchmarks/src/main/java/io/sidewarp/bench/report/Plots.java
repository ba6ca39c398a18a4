// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.result.BenchResults;
import io.sidewarp.bench.result.Part;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.PartResult.Figures;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Plots of the documentation, which gnuplot draws by {@code tools/plots.gp}. */
public final class Plots {

    private static final List<Part> PARTS = List.of(Part.THROUGHPUT, Part.RATE, Part.LATENCY);

    private Plots() {}

    /** Returns whether gnuplot can be started. */
    public static boolean canDraw() {
        return Arrays.stream(String.valueOf(System.getenv("PATH")).split(":", -1))
                .anyMatch(directory -> Files.isExecutable(Path.of(directory, "gnuplot")));
    }

    /**
     * Draws the plots of all measured parts.
     *
     * @param root directory of the sources
     */
    public static void draw(BenchResults results, Path root, Path directory) {
        try {
            Files.createDirectories(directory);
            for (Part part : PARTS) {
                PartResult result = results.parts().get(part);
                if (result != null) {
                    String name = part.name().toLowerCase(Locale.ROOT);
                    draw(root.resolve("tools/plots.gp"), name, lines(result), directory.resolve(name + ".svg"));
                }
            }
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot draw plots: " + e.getMessage(), e);
        }
    }

    private static void draw(Path script, String plot, String lines, Path svg) throws IOException {
        Path data = Files.createTempFile("sidewarp-bench-", ".tsv");
        try {
            Files.writeString(data, lines);
            Process gnuplot = new ProcessBuilder(
                            "gnuplot", "-c", script.toString(), plot, data.toString(), svg.toString())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(gnuplot.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (gnuplot.waitFor() != 0) {
                throw new Failure(ExitCode.FAILED, "gnuplot failed: " + output.strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        } finally {
            Files.deleteIfExists(data);
        }
    }

    /** Returns a line for each figure, with tabs between its columns; {@code tools/plots.gp} names the columns. */
    static String lines(PartResult part) {
        return part.figures().stream().flatMap(Plots::lines).collect(Collectors.joining());
    }

    private static Stream<String> lines(Figures figures) {
        Subject subject = figures.subject();
        boolean plain = subject.crc() && !subject.markers() && subject.connections() == 1;
        String name = subject.program() + " " + subject.operation() + ", " + subject.waiting();
        return figures.values().entrySet().stream()
                .map(figure -> String.join(
                                "\t",
                                plain ? name : "",
                                figure.getKey().key(),
                                String.valueOf(subject.size()),
                                String.valueOf(subject.depth()),
                                String.valueOf(figure.getValue().median()),
                                String.valueOf(figure.getValue().min()),
                                String.valueOf(figure.getValue().max()))
                        + "\n");
    }
}
