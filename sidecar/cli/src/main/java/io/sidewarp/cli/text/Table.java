// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.text;

import java.util.ArrayList;
import java.util.List;

/** Text table for a terminal. Each column is as wide as its widest cell. */
public final class Table {

    private static final String GAP = "  ";

    private final List<String> header;
    private final List<Boolean> right;
    private final List<List<String>> rows = new ArrayList<>();

    /** @param header titles of the columns; a title that begins with {@code >} makes its column right-aligned */
    public Table(String... header) {
        right = List.of(header).stream().map(title -> title.startsWith(">")).toList();
        this.header = List.of(header).stream()
                .map(title -> title.startsWith(">") ? title.substring(1) : title)
                .toList();
    }

    /** Adds a row with a cell for each column. */
    public Table row(Object... cells) {
        if (cells.length != header.size()) {
            throw new IllegalArgumentException(
                    "row has " + cells.length + " cells; the table has " + header.size() + " columns");
        }
        rows.add(List.of(cells).stream().map(Table::printable).toList());
        return this;
    }

    /** Returns all lines, each with its line end. */
    public String render() {
        int[] widths = new int[header.size()];
        for (int c = 0; c < widths.length; c++) {
            int column = c;
            widths[c] = rows.stream()
                    .mapToInt(row -> row.get(column).length())
                    .reduce(header.get(c).length(), Math::max);
        }
        StringBuilder text = new StringBuilder();
        append(text, header, widths);
        rows.forEach(row -> append(text, row, widths));
        return text.toString();
    }

    private void append(StringBuilder text, List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int c = 0; c < cells.size(); c++) {
            String padding = " ".repeat(widths[c] - cells.get(c).length());
            line.append(c == 0 ? "" : GAP).append(right.get(c) ? padding + cells.get(c) : cells.get(c) + padding);
        }
        text.append(line.toString().stripTrailing()).append('\n');
    }

    /**
     * Makes a cell printable. Names come from other processes, and their control characters must not reach the
     * terminal.
     */
    private static String printable(Object cell) {
        String text = String.valueOf(cell);
        return text.isEmpty() ? "-" : Printable.of(text);
    }
}
