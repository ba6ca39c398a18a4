// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.result.Metric;
import java.time.Duration;
import java.util.Map;

/** A program whose two ends carry out plans: Sidewarp or a peer. Not thread-safe. */
public interface Program extends AutoCloseable {

    /** Returns the name of the program in results. */
    String name();

    /**
     * Measures a plan. A program heeds those settings of the plan that it has.
     *
     * @param warmup time of the same work before the measurement; a peer may need none
     * @param time time of the measurement
     */
    Map<Metric, Double> measure(TransferPlan plan, Duration warmup, Duration time);

    @Override
    default void close() {}
}
