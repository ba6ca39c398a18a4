// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.result.BenchResults;
import io.sidewarp.bench.result.Part;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.RunFacts;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Formats results for people. */
public final class BenchReport {

    private static final String TARGETS = "targets";

    private BenchReport() {}

    /** Returns all results in one text. */
    public static String text(BenchResults results) {
        StringBuilder text = new StringBuilder();
        results.parts()
                .forEach((part, result) ->
                        text.append("## ").append(part).append("\n\n").append(part(part, result)));
        return text.append("## TARGETS\n\n").append(Targets.table(results, "")).toString();
    }

    /**
     * Checks that a document has marks for the tables of some parts, and of all parts with results.
     *
     * @throws io.sidewarp.cli.Failure if the document cannot be read, or lacks marks for a part
     */
    public static void check(Path document, Set<Part> parts, BenchResults results) {
        String text = Markdown.read(document);
        Stream.concat(parts.stream(), results.parts().keySet().stream())
                .map(BenchReport::name)
                .forEach(name -> Markdown.replace(text, name, ""));
        Markdown.replace(text, TARGETS, "");
    }

    /**
     * Writes tables into a document, and draws the plots into the directory {@code plots} beside it. The tables of a
     * part go between the marks {@code <!-- begin: bench PART -->} and {@code <!-- end: bench PART -->}. The targets go
     * between the marks of {@code targets}. A target without a measurement keeps its earlier row.
     */
    public static void write(BenchResults results, Path document) {
        String text = Markdown.read(document);
        for (Map.Entry<Part, PartResult> part : results.parts().entrySet()) {
            text = Markdown.replace(text, name(part.getKey()), part(part.getKey(), part.getValue()));
        }
        String targets = Targets.table(results, Markdown.content(text, TARGETS));
        Markdown.write(document, Markdown.replace(text, TARGETS, targets));
        Plots.write(results, document.resolveSibling("plots"));
    }

    private static String name(Part part) {
        return part.name().toLowerCase(Locale.ROOT);
    }

    private static String part(Part part, PartResult result) {
        String tables = switch (part) {
            case THROUGHPUT -> EngineTables.throughput(result);
            case MOMENTS -> MomentTables.moments(result);
            case STREAMS -> StreamTables.streams(result);
            case RATE -> EngineTables.rate(result);
            case LATENCY -> EngineTables.latency(result);
            case CONNECTIONS -> EngineTables.connections(result);
            case APPLICATION -> ApplicationTables.application(result);
            case SIDECAR -> SidecarTables.sidecar(result);
            case NETWORK -> NetworkTables.network(result);
            case SCTP -> SidecarTables.sctp(result);
            case COMPARISON -> ChangeTables.comparison(result);
            case PROFILE -> ChangeTables.profile(result);
        };
        return tables + "\n" + facts(part, result.facts()) + "\n\n";
    }

    private static String facts(Part part, RunFacts facts) {
        return String.format(
                Locale.ROOT,
                "Commit %s%s, %s, %d processors (%s), %s, processors of the ends %s, %d repetitions%s,"
                        + " other programs took %.0f %% of the processors.",
                facts.commit(),
                facts.before() == null ? "" : ", before: " + facts.before(),
                facts.kernel(),
                facts.processors(),
                facts.processor(),
                facts.jdk(),
                facts.pinning(),
                facts.repetitions(),
                part.isTimed() ? " of " + facts.milliseconds() + " ms" : "",
                facts.othersPercent());
    }
}
