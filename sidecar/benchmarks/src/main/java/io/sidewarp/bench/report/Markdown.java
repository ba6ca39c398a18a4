// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Formats tables, and inserts text into documents between a begin mark and an end mark. */
final class Markdown {

    private Markdown() {}

    /**
     * Returns a table. A line feed ends each row.
     *
     * @param text number of text columns, counted from the left; the other columns contain numbers
     */
    static String table(int text, List<String> header, List<List<String>> rows) {
        String rule = IntStream.range(0, header.size())
                .mapToObj(column -> column < text ? "---" : "--:")
                .collect(Collectors.joining("|", "|", "|\n"));
        return row(header) + rule + rows.stream().map(Markdown::row).collect(Collectors.joining());
    }

    private static String row(List<String> cells) {
        return cells.stream().collect(Collectors.joining(" | ", "| ", " |\n"));
    }

    /** Formats a number with at most three significant digits. No measured number is more precise. */
    static String number(double value) {
        double size = Math.abs(value);
        if (size >= 100) {
            double unit = Math.pow(10, Math.floor(Math.log10(size)) - 2);
            return String.format(Locale.ROOT, "%.0f", Math.rint(value / unit) * unit);
        }
        if (size < 0.0005) {
            return "0";
        }
        return String.format(Locale.ROOT, size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f", value);
    }

    /**
     * Replaces the text of a document between {@code <!-- begin: bench NAME -->} and {@code <!-- end: bench NAME -->}.
     *
     * @throws Failure if the document does not contain both marks in this order
     */
    static String replace(String document, String name, String content) {
        String begin = "<!-- begin: bench " + name + " -->\n";
        String end = "<!-- end: bench " + name + " -->";
        int from = document.indexOf(begin);
        int to = document.indexOf(end);
        if (from < 0 || to < from) {
            throw new Failure(ExitCode.NO_INPUT, "the document needs " + begin.strip() + " and then " + end);
        }
        return document.substring(0, from + begin.length()) + content + document.substring(to);
    }
}
