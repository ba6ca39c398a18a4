// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.status;

import io.sidewarp.common.Json;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Data of the status page as JSON: facts about the program, and tables of its objects. The page knows the kinds of
 * values, and nothing else about the programs. Not thread-safe.
 */
public final class StatusDocument {

    /** Forms in which the page shows values. */
    public enum Kind {
        TEXT,
        /** Number without a unit. */
        NUMBER,
        /** Number of bytes. */
        BYTES,
        /** Counter of bytes. The page shows its rate, a graph and the total. */
        BYTE_RATE,
        /** Counter of events. The page shows its rate and the total. */
        RATE,
        /** A {@link State}. */
        STATE,
        /** Time in ms since 1970, or 0 for never. The page shows how long ago it was. */
        AGE
    }

    /** Judgements of a state. */
    public enum Tone {
        GOOD,
        /** Nothing to judge. */
        PLAIN,
        /** Waits or changes. */
        WAIT,
        /** Needs an action. */
        BAD
    }

    /** A state in words, with its judgement. */
    public record State(String text, Tone tone) {}

    /** Title and kind of a column. */
    private record Column(String title, Kind kind) {}

    private final String title;
    private final Duration period;
    private final List<Map<String, Object>> facts = new ArrayList<>();
    private final List<Table> tables = new ArrayList<>();
    private String problem = "";

    /**
     * @param title name of the program
     * @param period time after which a browser asks again
     */
    public StatusDocument(String title, Duration period) {
        this.title = title;
        this.period = period;
    }

    /** Adds a fact about the whole program. */
    public StatusDocument fact(String name, Kind kind, Object value) {
        facts.add(members("name", name, "kind", kind, "value", json(value)));
        return this;
    }

    /** Sets what the program cannot show, and what to do. */
    public StatusDocument problem(String text) {
        problem = text;
        return this;
    }

    /**
     * Adds a table.
     *
     * @param help what the rows are, as a sentence; may be empty
     * @param empty sentence for a table without rows
     */
    public Table table(String heading, String help, String empty) {
        Table table = new Table(heading, help, empty);
        tables.add(table);
        return table;
    }

    /** A table. The first column identifies a row. */
    public static final class Table {

        /** Largest number of rows. Nobody reads more, and a browser would be slow. */
        private static final int MAX_ROWS = 200;

        private final String heading;
        private final String help;
        private final String empty;
        private final List<Column> columns = new ArrayList<>();
        private final List<List<Object>> rows = new ArrayList<>();
        private long left;

        private Table(String heading, String help, String empty) {
            this.heading = heading;
            this.help = help;
            this.empty = empty;
        }

        public Table column(String columnTitle, Kind kind) {
            columns.add(new Column(columnTitle, kind));
            return this;
        }

        /** Adds a row with a value for each column. Rows beyond a limit are only counted. */
        public Table row(Object... values) {
            if (values.length != columns.size()) {
                throw new IllegalArgumentException(values.length + " values for " + columns.size() + " columns");
            }
            if (rows.size() < MAX_ROWS) {
                rows.add(Stream.of(values).map(StatusDocument::json).toList());
            } else {
                left++;
            }
            return this;
        }

        /** Counts rows that were not even asked for. */
        public Table leftOut(long number) {
            left += number;
            return this;
        }

        private Map<String, Object> toMap() {
            return members(
                    "heading",
                    heading,
                    "help",
                    help,
                    "empty",
                    empty,
                    "columns",
                    columns.stream()
                            .map(column -> members("title", column.title, "kind", column.kind))
                            .toList(),
                    "rows",
                    rows,
                    "left_out",
                    left);
        }
    }

    /** Returns the JSON, in UTF-8. */
    public byte[] toJson() {
        return Json.write(members(
                        "title",
                        title,
                        "time",
                        Instant.now().toEpochMilli(),
                        "period",
                        period.toMillis(),
                        "problem",
                        problem,
                        "facts",
                        facts,
                        "tables",
                        tables.stream().map(Table::toMap).toList()))
                .getBytes(StandardCharsets.UTF_8);
    }

    private static Object json(Object value) {
        return value instanceof State state ? members("text", state.text, "tone", state.tone) : value;
    }

    private static Map<String, Object> members(Object... namesAndValues) {
        Map<String, Object> members = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            members.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return members;
    }
}
