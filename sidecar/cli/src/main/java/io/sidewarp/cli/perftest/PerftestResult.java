// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.perf.Histogram;
import io.sidewarp.cli.text.Listing;
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

    /** Figures of the side that measured. */
    static final Listing<PerftestResult> FIGURES = new Listing<PerftestResult>("results")
            .column("TEST", result -> result.plan.kind())
            .column(">SIZE", result -> Sizes.format(result.plan.size()))
            .column(">MESSAGES", result -> result.plan.messages())
            .column(">GBIT/S", PerftestResult::gigabitsPerSecond)
            .column(">MESSAGES/S", result -> String.format(Locale.ROOT, "%.0f", result.messagesPerSecond()))
            .column(">P50", result -> Times.format(result.latencies.percentile(50)))
            .column(">P99", result -> Times.format(result.latencies.percentile(99)))
            .column(">MAX", result -> Times.format(result.latencies.max()));

    PerftestResult with(Exchange.Report reported) {
        return new PerftestResult(plan, nanos, latencies, reported);
    }

    /** Returns this side's report. */
    Exchange.Report report() {
        double average = plan.messages() * plan.size() / MEBI / seconds();
        return new Exchange.Report(plan.size(), plan.messages(), average, average, messagesPerSecond() / 1e6);
    }

    /** Returns the figures of the side that served. */
    String served() {
        String told = plan.kind() + ", " + plan.messages() + " messages of " + Sizes.format(plan.size());
        return plan.kind().reports ? told + String.format(Locale.ROOT, ", %.1f MiB/s", peer.averageMebibytes()) : told;
    }

    private double seconds() {
        return Math.max(nanos, 1) / 1e9;
    }

    private String gigabitsPerSecond() {
        return String.format(Locale.ROOT, "%.3f", plan.messages() * plan.size() * 8 / seconds() / 1e9);
    }

    private double messagesPerSecond() {
        return plan.messages() / seconds();
    }
}
