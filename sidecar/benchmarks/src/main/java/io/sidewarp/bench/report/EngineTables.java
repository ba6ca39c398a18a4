// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.part.ConnectionsPart;
import io.sidewarp.bench.part.LatencyPart;
import io.sidewarp.bench.part.Peers;
import io.sidewarp.bench.part.RatePart;
import io.sidewarp.bench.part.Samples;
import io.sidewarp.bench.part.ThroughputPart;
import io.sidewarp.bench.part.ThroughputPart.Step;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;
import java.util.ArrayList;
import java.util.List;

/** Tables of the parts that measure between engines. */
final class EngineTables {

    private static final List<BenchOperation> OPERATIONS = List.of(BenchOperation.WRITE, BenchOperation.READ);

    private EngineTables() {}

    static String throughput(PartResult part) {
        Cells cells = new Cells(part);
        return peers(cells) + "\n" + bySize(cells) + "\n" + costs(cells);
    }

    /** Returns a table with one stream of iperf3, and copies. */
    private static String peers(Cells cells) {
        List<List<String>> rows = new ArrayList<>();
        for (IperfKind kind : IperfKind.values()) {
            rows.add(peer(cells, kind.toString(), Peers.iperf(kind)));
        }
        rows.add(peer(
                cells, "memcpy of " + Sizes.format(ThroughputPart.WARM_COPY), Peers.copy(ThroughputPart.WARM_COPY)));
        rows.add(peer(
                cells, "memcpy of " + Sizes.format(ThroughputPart.COLD_COPY), Peers.copy(ThroughputPart.COLD_COPY)));
        return peers(rows) + distance(cells);
    }

    /** Returns a table with the measured rows of peers. */
    static String peers(List<List<String>> rows) {
        return Markdown.table(
                1, List.of("peers", "Gbit/s", "CPU s/GiB, sender", "CPU s/GiB, receiver"), measured(rows));
    }

    /** Returns the rows that have a first figure. */
    static List<List<String>> measured(List<List<String>> rows) {
        return rows.stream().filter(row -> !row.get(1).isEmpty()).toList();
    }

    private static String distance(Cells cells) {
        String micros = cells.spread(Peers.line(), Metric.P50_MICROSECONDS);
        return micros.isEmpty()
                ? ""
                : "\nA cache line takes " + micros + " us there and back between the processors of the ends.\n";
    }

    /** Returns a row with the throughput of a peer, and its processor time. */
    static List<String> peer(Cells cells, String name, Subject subject) {
        return List.of(
                name,
                cells.spread(subject, Metric.GIGABITS_PER_SECOND),
                cells.value(subject, Metric.ACTIVE_CPU_SECONDS_PER_GIB),
                cells.value(subject, Metric.PASSIVE_CPU_SECONDS_PER_GIB));
    }

    private static String bySize(Cells cells) {
        List<String> header = new ArrayList<>(List.of("Gbit/s", "depth", "bare TCP", "grpc-java"));
        for (BenchOperation operation : OPERATIONS) {
            header.addAll(
                    List.of(operation.toString(), "no CRC", "Markers", ThroughputPart.CONNECTIONS + " connections"));
        }
        List<List<String>> rows = new ArrayList<>();
        for (Step step : ThroughputPart.STEPS) {
            List<String> row = new ArrayList<>(List.of(
                    Sizes.format(step.size()),
                    String.valueOf(step.depth()),
                    cells.value(Peers.nioStream(step.size()), Metric.GIGABITS_PER_SECOND),
                    cells.value(Peers.grpcStream(step.size()), Metric.GIGABITS_PER_SECOND)));
            for (BenchOperation operation : OPERATIONS) {
                for (TransferPlan plan : ThroughputPart.variants(step.plan(operation))) {
                    row.add(cells.value(Samples.engine(plan), Metric.GIGABITS_PER_SECOND));
                }
            }
            rows.add(row);
        }
        return Markdown.table(1, header, rows);
    }

    private static String costs(Cells cells) {
        List<List<String>> rows = new ArrayList<>();
        for (BenchOperation operation : OPERATIONS) {
            for (Step step : ThroughputPart.STEPS) {
                Subject subject = Samples.engine(step.plan(operation));
                rows.add(List.of(
                        operation + " " + Sizes.format(step.size()),
                        cells.spread(subject, Metric.GIGABITS_PER_SECOND),
                        cells.value(subject, Metric.MESSAGES_PER_SECOND),
                        cells.value(subject, Metric.ACTIVE_CPU_SECONDS_PER_GIB),
                        cells.value(subject, Metric.PASSIVE_CPU_SECONDS_PER_GIB),
                        cells.value(subject, Metric.ACTIVE_ALLOCATED_OCTETS_PER_MESSAGE),
                        cells.value(subject, Metric.PASSIVE_ALLOCATED_OCTETS_PER_MESSAGE),
                        cells.value(subject, Metric.COLLECTIONS)));
            }
        }
        return Markdown.table(
                1,
                List.of(
                        "one connection, CRC",
                        "Gbit/s",
                        "messages/s",
                        "CPU s/GiB, asking end",
                        "other end",
                        "octets of heap a message, asking end",
                        "other end",
                        "collections"),
                rows);
    }

    static String rate(PartResult part) {
        Cells cells = new Cells(part);
        List<List<String>> rows = new ArrayList<>();
        for (int depth : RatePart.DEPTHS) {
            rows.add(List.of(
                    String.valueOf(depth),
                    rate(cells, RatePart.plan(BenchOperation.WRITE, depth, Waiting.ADAPTIVE)),
                    rate(cells, RatePart.plan(BenchOperation.WRITE, depth, Waiting.YIELD)),
                    rate(cells, RatePart.plan(BenchOperation.READ, depth, Waiting.ADAPTIVE))));
        }
        rows.add(List.of(
                RatePart.FULLY_SIGNALED.depth() + ", each completion asked for",
                rate(cells, RatePart.FULLY_SIGNALED),
                "",
                ""));
        return Markdown.table(1, List.of("messages/s, depth", "write", "write, thread of its own", "read"), rows)
                + "\ngrpc-java streams "
                + cells.spread(Peers.grpcStream(RatePart.SIZE), Metric.MESSAGES_PER_SECOND)
                + " messages of 64 octets a second.\n";
    }

    private static String rate(Cells cells, TransferPlan plan) {
        return cells.spread(Samples.engine(plan), Metric.MESSAGES_PER_SECOND);
    }

    static String latency(PartResult part) {
        Cells cells = new Cells(part);
        List<List<String>> rows = new ArrayList<>();
        for (Waiting waiting : List.of(Waiting.SPIN, Waiting.SLEEP)) {
            rows.add(latency(cells, "bare TCP", Peers.nioEcho(LatencyPart.SIZE, waiting)));
        }
        rows.add(latency(cells, "grpc-java", Peers.grpcEcho(LatencyPart.SIZE)));
        for (TransferPlan plan : LatencyPart.PLANS) {
            rows.add(latency(cells, plan.operation().toString(), Samples.engine(plan)));
        }
        return Markdown.table(2, List.of("8 octets", "waiting", "p50 us", "p99 us", "p99.9 us"), rows);
    }

    private static List<String> latency(Cells cells, String name, Subject subject) {
        return List.of(
                name,
                subject.waiting(),
                cells.spread(subject, Metric.P50_MICROSECONDS),
                cells.spread(subject, Metric.P99_MICROSECONDS),
                cells.spread(subject, Metric.P99_9_MICROSECONDS));
    }

    static String connections(PartResult part) {
        Cells cells = new Cells(part);
        List<List<String>> rows = new ArrayList<>();
        for (int count : ConnectionsPart.COUNTS) {
            Subject subject = ConnectionsPart.subject(count);
            rows.add(List.of(
                    String.valueOf(count),
                    cells.spread(subject, Metric.CONNECTIONS_PER_SECOND),
                    cells.spread(subject, Metric.WARM_CONNECTIONS_PER_SECOND),
                    cells.spread(subject, Metric.ACTIVE_OCTETS_PER_CONNECTION),
                    cells.spread(subject, Metric.PASSIVE_OCTETS_PER_CONNECTION),
                    cells.quartiles(subject, Metric.GIGABITS_PER_SECOND),
                    cells.quartiles(subject, Metric.ALONE_GIGABITS_PER_SECOND),
                    cells.quartiles(subject, Metric.OF_ONE_ALONE)));
        }
        return Markdown.table(
                1,
                List.of(
                        "connections",
                        "set up a second, at first",
                        "warm",
                        "octets each, connecting end",
                        "octets each, accepting end",
                        "Gbit/s of one among them",
                        "of one alone",
                        "among / alone, turn by turn"),
                rows);
    }
}
