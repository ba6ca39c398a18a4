// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

import io.sidewarp.cli.perf.Histogram;

/**
 * What one end saw of a measurement.
 *
 * @param nanos from the first message to the certainty that the peer has the last
 * @param messages in this time, over all connections
 * @param latency of a ping-pong; all zero for a stream
 */
public record Outcome(long nanos, long messages, Latency latency) {

    /** Nanoseconds that so many of the messages did not exceed. */
    public record Latency(long p50, long p99, long p999) {

        public static final Latency NONE = new Latency(0, 0, 0);

        public static Latency of(Histogram histogram) {
            return new Latency(histogram.percentile(50), histogram.percentile(99), histogram.percentile(99.9));
        }
    }

    /** Of a stream. */
    public static Outcome stream(long nanos, long messages) {
        return new Outcome(nanos, messages, Latency.NONE);
    }

    /** Of a ping-pong. */
    public static Outcome pingPong(long nanos, Histogram histogram) {
        return new Outcome(nanos, histogram.count(), Latency.of(histogram));
    }
}
