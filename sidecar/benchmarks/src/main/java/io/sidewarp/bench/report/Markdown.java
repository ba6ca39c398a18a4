// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

    /** Returns a row of a table. */
    static String row(List<String> cells) {
        return cells.stream().collect(Collectors.joining(" | ", "| ", " |\n"));
    }

    /**
     * Replaces the text of a document between {@code <!-- begin: bench NAME -->} and the corresponding end.
     *
     * @throws Failure if the document has no such marks
     */
    static String replace(String document, String name, String content) {
        String old = content(document, name);
        int from = document.indexOf(begin(name)) + begin(name).length();
        return document.substring(0, from) + content + document.substring(from + old.length());
    }

    /**
     * Returns the text of a document between these marks.
     *
     * @throws Failure if the document has no such marks
     */
    static String content(String document, String name) {
        String end = "<!-- end: bench " + name + " -->";
        int from = document.indexOf(begin(name));
        int to = document.indexOf(end);
        if (from < 0 || to < from) {
            throw new Failure(
                    ExitCode.NO_INPUT, "the document has no " + begin(name).strip() + " ... " + end);
        }
        return document.substring(from + begin(name).length(), to);
    }

    private static String begin(String name) {
        return "<!-- begin: bench " + name + " -->\n";
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new Failure(ExitCode.NO_INPUT, "cannot read " + file + ": " + e.getMessage(), e);
        }
    }

    static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new Failure(ExitCode.CANNOT_CREATE, "cannot write " + file + ": " + e.getMessage(), e);
        }
    }
}
