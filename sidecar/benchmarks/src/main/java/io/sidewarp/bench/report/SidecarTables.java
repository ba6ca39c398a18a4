// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.part.RegionCosts;
import io.sidewarp.bench.part.SctpPart;
import io.sidewarp.bench.part.SidecarPart;
import io.sidewarp.bench.part.SidecarTests;
import io.sidewarp.bench.part.ThroughputPart.Step;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;
import java.util.ArrayList;
import java.util.List;

/** Tables of the parts that measure sidecars. */
final class SidecarTables {

    private SidecarTables() {}

    private static List<String> latency(Cells cells, String name, Subject subject) {
        return List.of(
                name,
                cells.spread(subject, Metric.P50_MICROSECONDS),
                cells.spread(subject, Metric.P99_MICROSECONDS),
                cells.spread(subject, Metric.P99_9_MICROSECONDS));
    }

    static String sctp(PartResult part) {
        Cells cells = new Cells(part);
        List<List<String>> rows = new ArrayList<>();
        for (String operation : SidecarTests.OPERATIONS) {
            for (Step step : SidecarTests.STEPS) {
                Subject subject = SidecarTests.stream(operation, step);
                Subject full = SctpPart.stream(step.size(), true);
                Subject bare = SctpPart.stream(step.size(), false);
                rows.add(List.of(
                        operation + " " + Sizes.format(step.size()),
                        String.valueOf(step.depth()),
                        cells.spread(subject, Metric.GIGABITS_PER_SECOND),
                        cells.value(full, Metric.GIGABITS_PER_SECOND),
                        cells.ratio(subject, full, Metric.GIGABITS_PER_SECOND),
                        cells.value(bare, Metric.GIGABITS_PER_SECOND),
                        cells.ratio(subject, bare, Metric.GIGABITS_PER_SECOND),
                        cells.value(subject, Metric.ACTIVE_CPU_SECONDS_PER_GIB),
                        cells.value(subject, Metric.PASSIVE_CPU_SECONDS_PER_GIB)));
            }
        }
        List<List<String>> latencies = new ArrayList<>();
        for (int size : SidecarTests.LATENCY_SIZES) {
            latencies.add(latency(cells, "usrsctp " + Sizes.format(size), SctpPart.echo(size)));
        }
        for (String operation : SidecarTests.OPERATIONS) {
            for (int size : SidecarTests.LATENCY_SIZES) {
                latencies.add(
                        latency(cells, operation + " " + Sizes.format(size), SidecarTests.pingPong(operation, size)));
            }
        }
        return Markdown.table(
                        1,
                        List.of(
                                "throughput",
                                "depth",
                                "Gbit/s",
                                "usrsctp",
                                "of it",
                                "usrsctp without CRC",
                                "of it",
                                "CPU s/GiB, asking end",
                                "other end"),
                        rows)
                + "\n"
                + Markdown.table(1, List.of("latency", "p50 us", "p99 us", "p99.9 us"), latencies);
    }

    static String sidecar(PartResult part) {
        Cells cells = new Cells(part);
        return Markdown.table(
                1,
                List.of("sidecar", "figure"),
                List.of(
                        List.of("ready after, ms", cells.spread(SidecarPart.IDLE, Metric.READY_MILLISECONDS)),
                        List.of("resident when idle, MiB", cells.spread(SidecarPart.IDLE, Metric.RESIDENT_MIB)),
                        List.of("resident under load, MiB", cells.spread(SidecarPart.LOADED, Metric.RESIDENT_MIB)),
                        List.of("register a region, ms/GiB", regions(cells, RegionCosts.REGISTER)),
                        List.of("fill it for the first time", regions(cells, RegionCosts.FIRST_FILL)),
                        List.of("fill it again", regions(cells, RegionCosts.FILL)),
                        List.of("deregister it", regions(cells, RegionCosts.DEREGISTER)),
                        List.of("image, MiB", cells.value(SidecarPart.IDLE, Metric.IMAGE_MIB))));
    }

    private static String regions(Cells cells, Subject subject) {
        return cells.spread(subject, Metric.MILLISECONDS_PER_GIB);
    }
}
