// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.part.MomentsPart;
import io.sidewarp.bench.part.Peers;
import io.sidewarp.bench.part.Samples;
import io.sidewarp.bench.part.SidecarTests;
import io.sidewarp.bench.part.ThroughputPart;
import io.sidewarp.bench.process.IperfKind;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.PartResult;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.text.Sizes;
import java.util.ArrayList;
import java.util.List;

/** Tables of the parts that measure moment by moment. */
final class MomentTables {

    private static final Subject IPERF = Peers.iperf(IperfKind.LARGE);
    private static final int MIB = 1 << 20;

    private MomentTables() {}

    static String moments(PartResult part) {
        Cells cells = new Cells(part);
        List<List<String>> rows = new ArrayList<>();
        rows.add(row(cells, IperfKind.LARGE.toString(), IPERF));
        rows.add(row(cells, IperfKind.LIKE_ENGINE.toString(), Peers.iperf(IperfKind.LIKE_ENGINE)));
        rows.add(row(cells, "bare TCP 1 MiB", Peers.nioStream(MIB)));
        for (TransferPlan plan : MomentsPart.plans()) {
            rows.add(row(
                    cells,
                    "engine " + plan.operation() + " " + Sizes.format(plan.size()) + ", " + plan.waiting(),
                    Samples.engine(plan)));
        }
        for (String operation : SidecarTests.OPERATIONS) {
            for (ThroughputPart.Step step : MomentsPart.STEPS) {
                rows.add(row(
                        cells,
                        "application " + operation + " " + Sizes.format(step.size()),
                        SidecarTests.stream(operation, step)));
            }
        }
        return Markdown.table(
                1,
                List.of(
                        "Gbit/s",
                        "in all moments",
                        "of iperf3",
                        "near processors",
                        "of iperf3",
                        "far processors",
                        "of iperf3",
                        "near, far, all moments"),
                rows);
    }

    private static List<String> row(Cells cells, String name, Subject subject) {
        List<String> row = new ArrayList<>(List.of(name));
        for (Metric metric :
                List.of(Metric.GIGABITS_PER_SECOND, Metric.NEAR_GIGABITS_PER_SECOND, Metric.FAR_GIGABITS_PER_SECOND)) {
            row.add(cells.quartiles(subject, metric));
            row.add(subject.equals(IPERF) ? "" : cells.ratio(subject, IPERF, metric));
        }
        row.add(cells.count(subject, Metric.NEAR_GIGABITS_PER_SECOND) + ", "
                + cells.count(subject, Metric.FAR_GIGABITS_PER_SECOND) + ", "
                + cells.count(subject, Metric.GIGABITS_PER_SECOND));
        return row;
    }
}
