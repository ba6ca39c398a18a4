// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.sidewarp.bench.result.BenchResults;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Part;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.PartResult.Figures;
import io.sidewarp.bench.result.Subject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** One table for users: some figures of all parts, with a column for each kind of program. */
final class Summary {

    private static final int KIB = 1024;
    private static final int MIB = KIB * KIB;

    private static final List<Part> STREAMS = List.of(Part.STREAMS, Part.APPLICATION);
    private static final List<Part> MESSAGES = List.of(Part.APPLICATION, Part.LATENCY);
    private static final List<Part> RATES = List.of(Part.APPLICATION, Part.RATE);
    /** Parts of Reads of small messages, to which no other program has anything like. */
    private static final List<Part> APPLICATION = List.of(Part.APPLICATION);

    private static final List<Part> NETWORK = List.of(Part.NETWORK);
    private static final List<Part> SIDECAR = List.of(Part.SIDECAR);

    private static final List<Column> COLUMNS = List.of(
            new Column("application, rings", List.of("application", "sidecar")),
            new Column("application, gRPC queue", List.of("application gRPC")),
            new Column("engine", List.of("engine")),
            new Column("iperf3 -l 1024K", List.of("iperf3 -l 1024K")),
            new Column("bare TCP", List.of("limit", "nio")),
            new Column("grpc-java", List.of("grpc-java")));

    private static final List<Row> ROWS = List.of(
            new Row("Write of 64 KiB, Gbit/s", Metric.GIGABITS_PER_SECOND, "write", 64 * KIB, STREAMS),
            new Row("Read of 64 KiB, Gbit/s", Metric.GIGABITS_PER_SECOND, "read", 64 * KIB, STREAMS),
            new Row("Write of 1 MiB, Gbit/s", Metric.GIGABITS_PER_SECOND, "write", MIB, STREAMS),
            new Row("Read of 1 MiB, Gbit/s", Metric.GIGABITS_PER_SECOND, "read", MIB, STREAMS),
            new Row("Write of 1 MiB, CPU s/GiB, sender", Metric.ACTIVE_CPU_SECONDS_PER_GIB, "write", MIB, STREAMS),
            new Row("Write of 1 MiB over a network, Gbit/s", Metric.GIGABITS_PER_SECOND, "write", MIB, NETWORK),
            new Row("Write of 64 B, messages/s", Metric.MESSAGES_PER_SECOND, "write", 64, RATES),
            new Row("Read of 64 B, messages/s", Metric.MESSAGES_PER_SECOND, "read", 64, APPLICATION),
            new Row("Write of 8 B, p50 us", Metric.P50_MICROSECONDS, "write", 8, MESSAGES),
            new Row("Write of 8 B, p99 us", Metric.P99_MICROSECONDS, "write", 8, MESSAGES),
            new Row("Read of 8 B, p50 us", Metric.P50_MICROSECONDS, "read", 8, APPLICATION),
            new Row("Read of 8 B, p99 us", Metric.P99_MICROSECONDS, "read", 8, APPLICATION),
            new Row("Write of 8 B over a network, p50 us", Metric.P50_MICROSECONDS, "write", 8, NETWORK),
            new Row("sidecar ready after, ms", Metric.READY_MILLISECONDS, "idle", 0, SIDECAR),
            new Row("idle sidecar, MiB resident", Metric.RESIDENT_MIB, "idle", 0, SIDECAR));

    private record Column(String header, List<String> programs) {}

    /**
     * Row of the table.
     *
     * @param parts parts that have the figure. The first part with a program's figure counts.
     */
    private record Row(String label, Metric metric, String operation, long size, List<Part> parts) {

        boolean matches(Subject subject) {
            return subject.operation().equals(operation)
                    && subject.size() == size
                    && subject.crc()
                    && !subject.markers()
                    && subject.connections() == 1;
        }
    }

    private Summary() {}

    /** Returns the table. Rows without any figure are left out, and so is a column. */
    static String table(BenchResults results) {
        List<Column> columns = COLUMNS.stream()
                .filter(column ->
                        ROWS.stream().anyMatch(row -> cell(results, row, column).isPresent()))
                .toList();
        List<List<String>> rows = new ArrayList<>();
        for (Row row : ROWS) {
            List<String> cells = columns.stream()
                    .map(column -> cell(results, row, column).orElse(""))
                    .toList();
            if (cells.stream().anyMatch(cell -> !cell.isEmpty())) {
                rows.add(Stream.concat(Stream.of(row.label()), cells.stream()).toList());
            }
        }
        List<String> header = Stream.concat(
                        Stream.of("medians"), columns.stream().map(Column::header))
                .toList();
        return Markdown.table(1, header, rows);
    }

    private static Optional<String> cell(BenchResults results, Row row, Column column) {
        return row.parts().stream()
                .flatMap(part -> Optional.ofNullable(results.parts().get(part)).stream())
                .flatMap(part -> groups(part).stream())
                .filter(group -> group.stream().anyMatch(figures -> row.matches(figures.subject())))
                .flatMap(group -> find(group, row, column).stream())
                .findFirst();
    }

    /** Returns the figure of a program, if possible of the same operation: other programs have one operation only. */
    private static Optional<String> find(List<Figures> group, Row row, Column column) {
        return group.stream()
                .filter(figures -> column.programs().contains(figures.subject().program()))
                .filter(figures -> figures.values().containsKey(row.metric()))
                .filter(figures -> row.matches(figures.subject()) || figures.reference())
                .min(Comparator.comparing(figures -> !row.matches(figures.subject())))
                .flatMap(figures -> Optional.ofNullable(figures.values().get(row.metric())))
                .map(figure -> Markdown.number(figure.median()));
    }

    private static List<List<Figures>> groups(PartResult part) {
        Map<String, List<Figures>> groups =
                part.figures().stream().collect(groupingBy(Figures::group, LinkedHashMap::new, toList()));
        return List.copyOf(groups.values());
    }
}
