// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import java.util.Locale;
import java.util.function.DoubleSupplier;

/**
 * Measures streams moment by moment. Sorts the moments by the distance of the processors before and after each moment.
 */
final class Moments {

    /** Maximum round-trip time of a cache line between cores that share a cache, or between threads of one core. */
    static final double NEAR_MICROS = 0.3;

    /** Minimum round-trip time between processors that share no cache. */
    static final double FAR_MICROS = 0.4;

    private final Lab lab;
    private final Recorder recorder;
    private final int count;
    private final DoubleSupplier distanceMicros;

    /** One moment of a stream. */
    @FunctionalInterface
    interface Moment {

        double gigabitsPerSecond();
    }

    /**
     * Makes a measurement in moments.
     *
     * @param count number of moments of a stream in a row
     * @param distanceMicros round-trip time of a cache line
     */
    Moments(Lab lab, Recorder recorder, int count, DoubleSupplier distanceMicros) {
        this.lab = lab;
        this.recorder = recorder;
        this.count = count;
        this.distanceMicros = distanceMicros;
    }

    /** Measures a stream. A moment counts as neither near nor far if the processors were moved during it. */
    void measure(Subject subject, Moment moment) {
        int near = 0;
        double sum = 0;
        double before = distanceMicros.getAsDouble();
        for (int index = 0; index < count; index++) {
            double rate = moment.gigabitsPerSecond();
            double after = distanceMicros.getAsDouble();
            recorder.add(subject, Metric.GIGABITS_PER_SECOND, rate);
            if (Math.max(before, after) <= NEAR_MICROS) {
                recorder.add(subject, Metric.NEAR_GIGABITS_PER_SECOND, rate);
                near++;
            } else if (Math.min(before, after) >= FAR_MICROS) {
                recorder.add(subject, Metric.FAR_GIGABITS_PER_SECOND, rate);
            }
            before = after;
            sum += rate;
        }
        lab.progress()
                .accept(Samples.describe(subject)
                        + String.format(
                                Locale.ROOT,
                                ": %.2f Gbit/s in %d moments, %d with near processors",
                                sum / count,
                                count,
                                near));
    }
}
