// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The results of one test run, as a file with a line for each requirement and test. */
final class Results {
    private static final String SELECTION = "# only selected tests ran";

    private final boolean selection;
    private final List<Row> rows = new ArrayList<>();

    /** A requirement, the test that carries it as {@code class#method}, and the outcome of the test. */
    record Row(String id, String test, Outcome outcome) {}

    /** Makes empty results; {@code selection} says that the run was restricted to some tests. */
    Results(boolean selection) {
        this.selection = selection;
    }

    void add(Row row) {
        rows.add(row);
    }

    boolean isSelection() {
        return selection;
    }

    List<Row> rows() {
        return Collections.unmodifiableList(rows);
    }

    String text() {
        StringBuilder text = new StringBuilder(selection ? SELECTION + "\n" : "");
        for (Row row : rows) {
            text.append(row.id)
                    .append('\t')
                    .append(row.test)
                    .append('\t')
                    .append(row.outcome.text())
                    .append('\n');
        }
        return text.toString();
    }

    /** Reads a file that {@link #text} has formatted. */
    static Results read(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        Results results = new Results(lines.contains(SELECTION));
        for (String line : lines) {
            if (!line.startsWith("#")) {
                String[] fields = line.split("\t", -1);
                if (fields.length != 3) {
                    throw new IOException(file + " has a line that is not id, test, outcome: " + line);
                }
                results.add(new Row(fields[0], fields[1], Outcome.parse(fields[2])));
            }
        }
        return results;
    }
}
