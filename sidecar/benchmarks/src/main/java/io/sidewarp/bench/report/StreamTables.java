// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.part.Peers;
import io.sidewarp.bench.part.Samples;
import io.sidewarp.bench.part.SidecarTests;
import io.sidewarp.bench.part.StreamsPart;
import io.sidewarp.bench.part.ThroughputPart.Step;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;
import java.util.ArrayList;
import java.util.List;

/** Tables of streams that take turns with their peers. */
final class StreamTables {

    private final Cells cells;
    private final List<List<String>> ratios = new ArrayList<>();
    private final List<List<String>> limits = new ArrayList<>();

    private StreamTables(Cells cells) {
        this.cells = cells;
    }

    static String streams(PartResult part) {
        StreamTables tables = new StreamTables(new Cells(part));
        StreamsPart.STEPS.forEach(tables::add);
        List<String> header = new ArrayList<>(List.of("by turns", "Gbit/s"));
        for (IperfKind kind : IperfKind.values()) {
            header.add("of " + kind);
        }
        header.addAll(List.of("of grpc-java", "CPU s/GiB, asking end", "other end", "both, of grpc-java"));
        return Markdown.table(1, header, tables.ratios)
                + "\n"
                + Markdown.table(1, List.of("by turns", "Gbit/s", "of the limit"), tables.limits);
    }

    private void add(Step step) {
        String size = " " + Sizes.format(step.size());
        for (IperfKind kind : IperfKind.values()) {
            ratio(kind + " beside" + size, StreamsPart.iperf(kind, step), step);
        }
        ratio("grpc-java" + size, Peers.grpcStream(step.size()), step);
        ratio("limit" + size, StreamsPart.limit(step, true), step);
        for (TransferPlan plan : StreamsPart.plans(step, true)) {
            ratio("engine " + plan.operation() + size, Samples.engine(plan), step);
        }
        for (String operation : SidecarTests.OPERATIONS) {
            ratio("application " + operation + size, SidecarTests.stream(operation, step), step);
        }
        for (boolean crc : List.of(true, false)) {
            Subject limit = StreamsPart.limit(step, crc);
            String suffix = size + (crc ? "" : ", no CRC");
            limit("limit" + suffix, limit, limit);
            for (TransferPlan plan : StreamsPart.plans(step, crc)) {
                limit("engine " + plan.operation() + suffix, Samples.engine(plan), limit);
            }
        }
    }

    private void ratio(String name, Subject subject, Step step) {
        Subject grpc = Peers.grpcStream(step.size());
        List<String> row = new ArrayList<>(List.of(name, cells.quartiles(subject, Metric.GIGABITS_PER_SECOND)));
        for (IperfKind kind : IperfKind.values()) {
            row.add(cells.ofEachTurn(subject, StreamsPart.iperf(kind, step), Metric.GIGABITS_PER_SECOND));
        }
        row.add(cells.ofEachTurn(subject, grpc, Metric.GIGABITS_PER_SECOND));
        row.add(cells.value(subject, Metric.ACTIVE_CPU_SECONDS_PER_GIB));
        row.add(cells.value(subject, Metric.PASSIVE_CPU_SECONDS_PER_GIB));
        row.add(Cells.number(Cells.ratio(cells.cpuOfBothEnds(subject), cells.cpuOfBothEnds(grpc))));
        ratios.add(row);
    }

    private void limit(String name, Subject subject, Subject limit) {
        limits.add(List.of(
                name,
                cells.quartiles(subject, Metric.GIGABITS_PER_SECOND),
                cells.ofEachTurn(subject, limit, Metric.GIGABITS_PER_SECOND)));
    }
}
