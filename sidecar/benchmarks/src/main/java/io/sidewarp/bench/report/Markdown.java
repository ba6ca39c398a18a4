// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Formats tables, and inserts them into documents between marks. */
final class Markdown {

    private Markdown() {}

    /**
     * Returns a table that ends with a line end.
     *
     * @param text number of columns with text, from the left; the others contain numbers
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

    /** Returns a number with three digits, since no figure is more precise. */
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
     * Replaces the text of a document between {@code <!-- begin: bench NAME -->} and the corresponding end.
     *
     * @throws Failure if the document has no such marks
     */
    static String replace(String document, String name, String content) {
        String begin = "<!-- begin: bench " + name + " -->\n";
        String end = "<!-- end: bench " + name + " -->";
        int from = document.indexOf(begin);
        int to = document.indexOf(end);
        if (from < 0 || to < from) {
            throw new Failure(ExitCode.NO_INPUT, "the document has no " + begin.strip() + " ... " + end);
        }
        return document.substring(0, from + begin.length()) + content + document.substring(to);
    }
}
