// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.end.Mode;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.part.BesideTests;
import io.sidewarp.bench.part.ComparisonPart;
import io.sidewarp.bench.part.LatencyPart;
import io.sidewarp.bench.part.ProfilePart;
import io.sidewarp.bench.part.Samples;
import io.sidewarp.bench.part.SidecarTests;
import io.sidewarp.bench.part.ThroughputPart;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;
import java.util.ArrayList;
import java.util.List;

/** Tables of the parts that show the effect of a change. */
final class ChangeTables {

    private static final Metric RATE = Metric.GIGABITS_PER_SECOND;
    private static final Metric LATENCY = Metric.P50_MICROSECONDS;
    private static final Metric TAIL = Metric.P99_MICROSECONDS;

    private static final List<Metric> KINDS = List.of(
            Metric.KERNEL_COPY_PERCENT,
            Metric.KERNEL_PERCENT,
            Metric.MEMORY_COPY_PERCENT,
            Metric.CRC_PERCENT,
            Metric.JAVA_PERCENT,
            Metric.NATIVE_PERCENT);

    private ChangeTables() {}

    static String comparison(PartResult part) {
        Cells cells = new Cells(part);
        List<List<String>> rows = new ArrayList<>();
        for (TransferPlan plan : ComparisonPart.plans()) {
            boolean latency = plan.mode() == Mode.PING_PONG;
            rows.add(row(cells, "engine " + name(plan), Samples.engine(plan), latency ? LATENCY : RATE));
        }
        for (String operation : SidecarTests.OPERATIONS) {
            for (ThroughputPart.Step step : ComparisonPart.STEPS) {
                rows.add(row(
                        cells,
                        "application " + operation + " " + Sizes.format(step.size()),
                        SidecarTests.stream(operation, step),
                        RATE));
            }
            rows.add(row(
                    cells,
                    "application " + operation + " " + Sizes.format(LatencyPart.SIZE),
                    SidecarTests.pingPong(operation, LatencyPart.SIZE),
                    LATENCY));
        }
        for (BesideTests.Stream stream : BesideTests.STREAMS) {
            String name = "application read " + Sizes.format(LatencyPart.SIZE) + " beside " + stream;
            rows.add(row(cells, name, BesideTests.beside(stream), LATENCY));
            rows.add(row(cells, name, BesideTests.beside(stream), TAIL));
            rows.add(row(cells, "that " + stream, BesideTests.besideMessages(stream), RATE));
        }
        return Markdown.table(1, List.of("by turns", "before", "after", "unit", "after / before, turn by turn"), rows);
    }

    private static List<String> row(Cells cells, String name, Subject subject, Metric metric) {
        return List.of(
                name,
                cells.quartiles(subject.before(), metric),
                cells.quartiles(subject, metric),
                metric == RATE ? "Gbit/s" : metric == TAIL ? "us, p99" : "us, p50",
                cells.ofEachTurn(subject, subject.before(), metric));
    }

    static String profile(PartResult part) {
        Cells cells = new Cells(part);
        List<List<String>> rows = new ArrayList<>();
        for (TransferPlan plan : ProfilePart.plans()) {
            for (boolean before : List.of(true, false)) {
                for (boolean active : List.of(true, false)) {
                    rows.add(profile(cells, plan, before, active));
                }
            }
        }
        return Markdown.table(
                1,
                List.of(
                        "percent of samples",
                        "Gbit/s meanwhile",
                        "kernel, copies",
                        "kernel, else",
                        "copies of memory",
                        "CRC",
                        "Java",
                        "native, else"),
                rows.stream().filter(row -> !row.get(1).isEmpty()).toList());
    }

    private static List<String> profile(Cells cells, TransferPlan plan, boolean before, boolean active) {
        Subject rate = Samples.engine(plan);
        Subject end = active ? ProfilePart.activeEnd(plan) : ProfilePart.passiveEnd(plan);
        List<String> row = new ArrayList<>();
        row.add((before ? "before: " : "") + name(plan) + (active ? ", asking end" : ", other end"));
        row.add(cells.value(before ? rate.before() : rate, Metric.GIGABITS_PER_SECOND));
        for (Metric kind : KINDS) {
            row.add(cells.value(before ? end.before() : end, kind));
        }
        return row;
    }

    private static String name(TransferPlan plan) {
        return plan.operation() + " " + Sizes.format(plan.size())
                + (plan.connections() > 1 ? ", " + plan.connections() + " connections" : "");
    }
}
