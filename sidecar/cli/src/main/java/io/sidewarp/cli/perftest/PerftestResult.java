// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.perf.Histogram;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.text.Times;
import java.util.Locale;

/**
 * Result of one test.
 *
 * @param nanos time of the data phase
 * @param latencies of single messages, if this side measured them
 * @param peer the report of the other side
 */
record PerftestResult(PerftestPlan plan, long nanos, Histogram latencies, Exchange.Report peer) {

    private static final double MEBI = 1 << 20;

    PerftestResult with(Exchange.Report reported) {
        return new PerftestResult(plan, nanos, latencies, reported);
    }

    /** Returns this side's report. */
    Exchange.Report report() {
        double average = plan.messages() * plan.size() / MEBI / seconds();
        return new Exchange.Report(plan.size(), plan.messages(), average, average, messagesPerSecond() / 1e6);
    }

    static String[] titles() {
        return new String[] {"TEST", ">SIZE", ">MESSAGES", ">GBIT/S", ">MESSAGES/S", ">P50", ">P99", ">MAX"};
    }

    /** Returns the figures of the side that measured. */
    Object[] row() {
        return new Object[] {
            plan.kind(),
            Sizes.format(plan.size()),
            plan.messages(),
            String.format(Locale.ROOT, "%.3f", plan.messages() * plan.size() * 8 / seconds() / 1e9),
            String.format(Locale.ROOT, "%.0f", messagesPerSecond()),
            Times.format(latencies.percentile(50)),
            Times.format(latencies.percentile(99)),
            Times.format(latencies.max())
        };
    }

    /** Returns the figures of the side that served. */
    String served() {
        String told = plan.kind() + ", " + plan.messages() + " messages of " + Sizes.format(plan.size());
        return plan.kind().reports()
                ? told + String.format(Locale.ROOT, ", %.1f MiB/s", peer.averageMebibytes())
                : told;
    }

    private double seconds() {
        return Math.max(nanos, 1) / 1e9;
    }

    private double messagesPerSecond() {
        return plan.messages() / seconds();
    }
}
