// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.part.LatencyPart;
import io.sidewarp.bench.part.NetworkPart;
import io.sidewarp.bench.part.Peers;
import io.sidewarp.bench.part.Samples;
import io.sidewarp.bench.part.SidecarTests;
import io.sidewarp.bench.part.ThroughputPart.Step;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Tables of the measurements on a network. */
final class NetworkTables {

    /** Congestion controls: the machine's, and another one. */
    private static final List<Way> WAYS = List.of(
            new Way("", UnaryOperator.identity()),
            new Way(", " + NetworkPart.USUAL, subject -> subject.with(NetworkPart.USUAL)));

    /**
     * A congestion control.
     *
     * @param name suffix of the names of its rows
     * @param subject maps a subject to that with this congestion control
     */
    private record Way(String name, UnaryOperator<Subject> subject) {}

    private NetworkTables() {}

    static String network(PartResult part) {
        Cells cells = new Cells(part);
        return peers(cells) + "\n" + streams(cells) + "\n" + latency(cells);
    }

    private static String peers(Cells cells) {
        List<List<String>> rows = new ArrayList<>();
        for (Way way : WAYS) {
            for (IperfKind kind : List.of(IperfKind.DEFAULT, IperfKind.LARGE)) {
                rows.add(EngineTables.peer(cells, kind + way.name, way.subject.apply(Peers.iperf(kind))));
            }
        }
        return EngineTables.peers(rows);
    }

    private static String streams(Cells cells) {
        List<List<String>> rows = new ArrayList<>();
        for (Way way : WAYS) {
            for (BenchOperation operation : NetworkPart.OPERATIONS) {
                for (Step step : NetworkPart.STEPS) {
                    rows.add(stream(cells, way, operation, step));
                }
            }
        }
        return Markdown.table(
                1,
                List.of(
                        "Gbit/s",
                        "engines",
                        "of " + IperfKind.LARGE,
                        "CPU s/GiB, asking end",
                        "other end",
                        "applications",
                        "of " + IperfKind.LARGE),
                EngineTables.measured(rows));
    }

    private static List<String> stream(Cells cells, Way way, BenchOperation operation, Step step) {
        Subject engine = way.subject.apply(Samples.engine(step.plan(operation)));
        Subject application = way.subject.apply(SidecarTests.stream(operation.toString(), step));
        Subject iperf = way.subject.apply(Peers.iperf(IperfKind.LARGE));
        return List.of(
                operation + " " + Sizes.format(step.size()) + way.name,
                cells.spread(engine, Metric.GIGABITS_PER_SECOND),
                cells.ratio(engine, iperf, Metric.GIGABITS_PER_SECOND),
                cells.value(engine, Metric.ACTIVE_CPU_SECONDS_PER_GIB),
                cells.value(engine, Metric.PASSIVE_CPU_SECONDS_PER_GIB),
                cells.spread(application, Metric.GIGABITS_PER_SECOND),
                cells.ratio(application, iperf, Metric.GIGABITS_PER_SECOND));
    }

    private static String latency(Cells cells) {
        List<List<String>> rows = new ArrayList<>();
        for (Way way : WAYS) {
            rows.add(latency(cells, "bare TCP", way, Peers.nioEcho(LatencyPart.SIZE, Waiting.SPIN)));
            rows.add(latency(cells, "engines, write", way, Samples.engine(NetworkPart.ECHO)));
            for (String operation : SidecarTests.OPERATIONS) {
                rows.add(latency(
                        cells, "applications, " + operation, way, SidecarTests.pingPong(operation, LatencyPart.SIZE)));
            }
        }
        return Markdown.table(1, List.of("8 octets", "p50 us", "p99 us"), EngineTables.measured(rows));
    }

    private static List<String> latency(Cells cells, String name, Way way, Subject subject) {
        Subject measured = way.subject.apply(subject);
        return List.of(
                name + way.name,
                cells.spread(measured, Metric.P50_MICROSECONDS),
                cells.spread(measured, Metric.P99_MICROSECONDS));
    }
}
