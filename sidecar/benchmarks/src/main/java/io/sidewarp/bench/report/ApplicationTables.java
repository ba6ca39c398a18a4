// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.part.ApplicationPart;
import io.sidewarp.bench.part.BesideTests;
import io.sidewarp.bench.part.IdleQueue;
import io.sidewarp.bench.part.LatencyPart;
import io.sidewarp.bench.part.Quotas;
import io.sidewarp.bench.part.Samples;
import io.sidewarp.bench.part.SidecarTests;
import io.sidewarp.bench.part.ThroughputPart.Step;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** Tables of applications: queues in shared memory and over gRPC. */
final class ApplicationTables {

    private final Cells cells;

    private ApplicationTables(Cells cells) {
        this.cells = cells;
    }

    static String application(PartResult part) {
        ApplicationTables tables = new ApplicationTables(new Cells(part));
        return tables.alone() + "\n" + tables.limit() + "\n" + tables.beside() + "\n" + tables.idle() + "\n"
                + tables.quota();
    }

    private String alone() {
        List<List<String>> rows = new ArrayList<>();
        for (BenchOperation operation : ApplicationPart.OPERATIONS) {
            for (int size : ApplicationPart.SIZES) {
                Subject engine = Samples.engine(ApplicationPart.pingPong(operation, size));
                Subject rings = SidecarTests.pingPong(operation.toString(), size);
                String name = operation + " " + Sizes.format(size);
                rows.add(turns(name + ", p50 us", engine, rings, Metric.P50_MICROSECONDS));
                rows.add(turns(name + ", p99 us", engine, rings, Metric.P99_MICROSECONDS));
            }
        }
        List<List<String>> costs = new ArrayList<>();
        for (BenchOperation operation : ApplicationPart.OPERATIONS) {
            for (Step step : ApplicationPart.STEPS) {
                Subject engine = Samples.engine(step.plan(operation));
                Subject rings = SidecarTests.stream(operation.toString(), step);
                String name = operation + " " + Sizes.format(step.size()) + ", depth " + step.depth();
                if (step.size() < Samples.LEAST_SIZE_FOR_CPU) {
                    rows.add(turns(name + ", messages/s", engine, rings, Metric.MESSAGES_PER_SECOND));
                } else {
                    rows.add(turns(name + ", Gbit/s", engine, rings, Metric.GIGABITS_PER_SECOND));
                    costs.add(cpu(name + ", CPU s/GiB", engine, rings));
                }
            }
        }
        rows.addAll(costs);
        return Markdown.table(
                1, List.of("by turns", "engine", "rings", "gRPC", "rings / engine", "gRPC / engine"), rows);
    }

    private List<String> turns(String name, Subject engine, Subject rings, Metric metric) {
        Subject grpc = rings.with(ApplicationPart.GRPC);
        return List.of(
                name,
                cells.quartiles(engine, metric),
                cells.quartiles(rings, metric),
                cells.quartiles(grpc, metric),
                cells.ofEachTurn(rings, engine, metric),
                cells.ofEachTurn(grpc, engine, metric));
    }

    private List<String> cpu(String name, Subject engine, Subject rings) {
        OptionalDouble ofEngine = cells.cpuOfBothEnds(engine);
        OptionalDouble ofRings = cells.cpuOfBothEnds(rings);
        OptionalDouble ofGrpc = cells.cpuOfBothEnds(rings.with(ApplicationPart.GRPC));
        return List.of(
                name,
                Cells.number(ofEngine),
                Cells.number(ofRings),
                Cells.number(ofGrpc),
                Cells.number(Cells.ratio(ofRings, ofEngine)),
                Cells.number(Cells.ratio(ofGrpc, ofEngine)));
    }

    private String limit() {
        List<List<String>> rows = new ArrayList<>();
        for (BenchOperation operation : ApplicationPart.OPERATIONS) {
            Subject engine = Samples.engine(ApplicationPart.pingPong(operation, LatencyPart.SIZE));
            Subject rings = SidecarTests.pingPong(operation.toString(), LatencyPart.SIZE);
            rows.add(limit(operation + " 8 B, p50 us", engine, rings, Metric.P50_MICROSECONDS));
            rows.add(limit(operation + " 8 B, p99 us", engine, rings, Metric.P99_MICROSECONDS));
            rows.add(limit(
                    operation + " 64 B, depth " + ApplicationPart.SMALL.depth() + ", messages/s",
                    Samples.engine(ApplicationPart.SMALL.plan(operation)),
                    SidecarTests.stream(operation.toString(), ApplicationPart.SMALL),
                    Metric.MESSAGES_PER_SECOND));
        }
        return Markdown.table(1, List.of("by turns", "C relay", "C relay / engine", "rings / C relay"), rows);
    }

    private List<String> limit(String name, Subject engine, Subject rings, Metric metric) {
        Subject relay = ApplicationPart.relayed(rings);
        return List.of(
                name,
                cells.quartiles(relay, metric),
                cells.ofEachTurn(relay, engine, metric),
                cells.ofEachTurn(rings, relay, metric));
    }

    private String beside() {
        List<List<String>> rows = new ArrayList<>();
        for (BesideTests.Stream stream : BesideTests.STREAMS) {
            Subject rings = BesideTests.beside(stream);
            Subject grpc = rings.with(ApplicationPart.GRPC);
            Subject streamed = BesideTests.besideMessages(stream);
            rows.add(List.of(
                    stream.toString(),
                    cells.value(rings, Metric.P50_MICROSECONDS),
                    cells.quartiles(rings, Metric.P99_MICROSECONDS),
                    cells.value(streamed, Metric.GIGABITS_PER_SECOND),
                    cells.value(grpc, Metric.P50_MICROSECONDS),
                    cells.quartiles(grpc, Metric.P99_MICROSECONDS),
                    cells.value(streamed.with(ApplicationPart.GRPC), Metric.GIGABITS_PER_SECOND),
                    cells.ofEachTurn(rings, grpc, Metric.P99_MICROSECONDS)));
        }
        return Markdown.table(
                1,
                List.of(
                        "read 8 B beside",
                        "rings, p50 us",
                        "p99 us",
                        "stream, Gbit/s",
                        "gRPC, p50 us",
                        "p99 us",
                        "stream, Gbit/s",
                        "p99, rings / gRPC"),
                rows);
    }

    private String idle() {
        return Markdown.table(
                1,
                List.of("idle queue over rings", "figure"),
                List.of(
                        idle("sidecar, % of a processor", Metric.SIDECAR_CPU_PERCENT),
                        idle("application, % of a processor", Metric.APPLICATION_CPU_PERCENT),
                        idle("files, KiB", Metric.FILES_KIB)));
    }

    private List<String> idle(String name, Metric metric) {
        return List.of(name, cells.spread(IdleQueue.SUBJECT, metric));
    }

    private String quota() {
        List<List<String>> rows = new ArrayList<>();
        for (BenchOperation operation : ApplicationPart.OPERATIONS) {
            Subject message = SidecarTests.pingPong(operation.toString(), Quotas.SIZE);
            String name = operation + " " + Sizes.format(Quotas.SIZE);
            rows.add(quota(name + ", p50 us", message, Metric.P50_MICROSECONDS));
            rows.add(quota(name + ", p99 us", message, Metric.P99_MICROSECONDS));
            rows.add(quota(
                    operation + " " + Sizes.format(Quotas.STEP.size()) + ", depth " + Quotas.STEP.depth() + ", Gbit/s",
                    SidecarTests.stream(operation.toString(), Quotas.STEP),
                    Metric.GIGABITS_PER_SECOND));
        }
        List<List<String>> measured = EngineTables.measured(rows);
        return measured.isEmpty()
                ? ""
                : Markdown.table(
                                1,
                                List.of("rings, all processors", "no quota", "quota of one", "quota / no quota"),
                                measured)
                        + "\nThe quota of the asking application and its sidecar was used up in "
                        + cells.value(Quotas.USE, Metric.THROTTLED_PERCENT)
                        + " % of the periods of 100 ms.\n";
    }

    private List<String> quota(String name, Subject subject, Metric metric) {
        Subject free = subject.with(Quotas.FREE);
        Subject limited = subject.withQuota(Quotas.QUOTA);
        return List.of(
                name, cells.spread(free, metric), cells.spread(limited, metric), cells.ratio(limited, free, metric));
    }
}
