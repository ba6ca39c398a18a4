// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import io.sidewarp.cli.perf.Histogram;

/**
 * Outcome of a measurement at one end.
 *
 * @param nanos time from the first message until it is certain that the peer has the last one
 * @param messages messages in this time, over all connections
 * @param latency latency of a ping-pong; all zero for a stream
 */
public record DutyOutcome(long nanos, long messages, Latency latency) {

    /** Percentiles of the latency in nanoseconds. */
    public record Latency(long p50, long p99, long p999) {

        public static final Latency NONE = new Latency(0, 0, 0);

        public static Latency of(Histogram histogram) {
            return new Latency(histogram.percentile(50), histogram.percentile(99), histogram.percentile(99.9));
        }
    }

    /** Returns the outcome of a stream. */
    public static DutyOutcome stream(long nanos, long messages) {
        return new DutyOutcome(nanos, messages, Latency.NONE);
    }

    /** Returns the outcome of a ping-pong. */
    public static DutyOutcome pingPong(long nanos, Histogram histogram) {
        return new DutyOutcome(nanos, histogram.count(), Latency.of(histogram));
    }
}
