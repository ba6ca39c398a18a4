// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import java.time.Duration;
import org.HdrHistogram.Histogram;

/**
 * Outcome of a measurement at one end.
 *
 * @param nanos time from the first message until it is certain that the peer has the last one
 * @param messages messages in this time, over all connections
 * @param latency latency of a ping-pong; all zero for a stream
 */
public record DutyOutcome(long nanos, long messages, Latency latency) {

    private static final long LONGEST = Duration.ofHours(1).toNanos();

    /** Percentiles of the latency in nanoseconds. */
    public record Latency(long p50, long p99, long p999) {}

    /** Returns a histogram for nanoseconds with two significant digits. Recording allocates nothing. */
    public static Histogram newHistogram() {
        return new Histogram(LONGEST, 2);
    }

    /** Returns the outcome of a stream. */
    public static DutyOutcome stream(long nanos, long messages) {
        return new DutyOutcome(nanos, messages, new Latency(0, 0, 0));
    }

    /** Returns the outcome of a ping-pong. */
    public static DutyOutcome pingPong(long nanos, Histogram histogram) {
        return new DutyOutcome(
                nanos,
                histogram.getTotalCount(),
                new Latency(
                        histogram.getValueAtPercentile(50),
                        histogram.getValueAtPercentile(99),
                        histogram.getValueAtPercentile(99.9)));
    }
}
