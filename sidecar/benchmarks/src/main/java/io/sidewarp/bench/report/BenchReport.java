// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.sidewarp.bench.result.BenchResults;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.PartResult.Figures;
import io.sidewarp.bench.result.RunFacts;
import io.sidewarp.bench.result.Series;
import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Formats results for people. A row of a table has a subject, its figures, and the ratios of these to the references of
 * its group.
 */
public final class BenchReport {

    private static final String SUMMARY = "summary";
    private static final int TEXT_COLUMNS = 2;

    private BenchReport() {}

    /** Returns all results in one text. */
    public static String text(BenchResults results) {
        StringBuilder text = new StringBuilder();
        results.parts()
                .forEach((part, result) ->
                        text.append("## ").append(part).append("\n\n").append(part(result)));
        return text.toString();
    }

    /**
     * Checks that a document has the marks for the summary.
     *
     * @throws Failure if the document cannot be read, or lacks the marks
     */
    public static void check(Path document) {
        Markdown.replace(read(document), SUMMARY, "");
    }

    /**
     * Writes the summary of all results into a document, between the marks {@code <!-- begin: bench summary -->} and
     * {@code <!-- end: bench summary -->}.
     */
    public static void write(BenchResults results, Path document) {
        StringBuilder text = new StringBuilder(Summary.table(results)).append('\n');
        results.parts()
                .forEach((part, result) -> text.append("- ")
                        .append(part)
                        .append(": ")
                        .append(facts(result.facts()))
                        .append('\n'));
        try {
            Files.writeString(document, Markdown.replace(read(document), SUMMARY, text.toString()));
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot write " + document + ": " + e.getMessage(), e);
        }
    }

    private static String read(Path document) {
        try {
            return Files.readString(document);
        } catch (IOException e) {
            throw new Failure(ExitCode.NO_INPUT, "cannot read " + document + ": " + e.getMessage(), e);
        }
    }

    /** Returns the tables of a part. Groups with the same columns share a table. */
    private static String part(PartResult part) {
        Map<List<String>, List<List<String>>> tables = new LinkedHashMap<>();
        part.figures().stream()
                .collect(groupingBy(Figures::group, LinkedHashMap::new, toList()))
                .forEach((name, group) -> {
                    List<Metric> metrics = Arrays.stream(Metric.values())
                            .filter(Metric::isReported)
                            .filter(metric -> group.stream()
                                    .anyMatch(figures -> figures.values().containsKey(metric)))
                            .toList();
                    List<Figures> references =
                            group.stream().filter(Figures::reference).toList();
                    List<List<String>> rows =
                            tables.computeIfAbsent(header(metrics, references), ignored -> new ArrayList<>());
                    group.forEach(figures -> rows.add(row(figures, metrics, references)));
                });
        StringBuilder text = new StringBuilder();
        tables.forEach((header, rows) ->
                text.append(Markdown.table(TEXT_COLUMNS, header, rows)).append('\n'));
        return text.append(facts(part.facts())).append("\n\n").toString();
    }

    private static List<String> header(List<Metric> metrics, List<Figures> references) {
        List<String> header = new ArrayList<>(List.of("by turns", "subject"));
        for (Metric metric : metrics) {
            header.add(metric.toString());
            if (metric.isCompared()) {
                references.forEach(
                        reference -> header.add("of " + reference.subject().program()));
            }
        }
        return header;
    }

    private static List<String> row(Figures figures, List<Metric> metrics, List<Figures> references) {
        List<String> row =
                new ArrayList<>(List.of(figures.group(), figures.subject().toString()));
        for (Metric metric : metrics) {
            Series series = figures.values().get(metric);
            row.add(series == null ? "" : cell(series));
            if (metric.isCompared()) {
                for (Figures reference : references) {
                    Series other = reference.values().get(metric);
                    row.add(
                            series == null || other == null || reference.equals(figures)
                                    ? ""
                                    : cell(series.over(other)));
                }
            }
        }
        return row;
    }

    /** Returns the median, and the quartiles in parentheses; of few samples the least and the greatest value. */
    private static String cell(Series series) {
        String median = Markdown.number(series.median());
        return series.samples().size() == 1
                ? median
                : median + " (" + Markdown.number(series.quartiles().getFirst()) + "–"
                        + Markdown.number(series.quartiles().getLast()) + ")";
    }

    private static String facts(RunFacts facts) {
        return String.format(
                Locale.ROOT,
                "Commit %s%s, %s, %d processors (%s), %s, processors of the ends %s, %d repetitions of %d ms,"
                        + " other programs took %.0f %% of the processors.",
                facts.commit(),
                facts.before() == null ? "" : ", before: " + facts.before(),
                facts.kernel(),
                facts.processors(),
                facts.processor(),
                facts.jdk(),
                facts.pinning(),
                facts.repetitions(),
                facts.milliseconds(),
                facts.othersPercent());
    }
}
