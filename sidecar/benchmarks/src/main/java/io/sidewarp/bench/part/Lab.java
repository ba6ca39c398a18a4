// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.process.Build;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Measurement;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.client.QueuePath;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Common settings of the measurements of a run.
 *
 * @param build build that is measured
 * @param against build to compare with, in the parts that compare
 * @param active place of the end that keeps the time
 * @param passive place of the other end
 * @param directory directory for logs and other files; removed after the run
 * @param time time of a measurement
 * @param quick true for a short look: fewer sizes, less warming up
 * @param progress receives a line for people after each measurement
 */
public record Lab(
        Build build,
        Optional<Build> against,
        Place active,
        Place passive,
        Path directory,
        Duration time,
        boolean quick,
        Consumer<String> progress) {

    private static final Duration MOMENT = Duration.ofMillis(300);
    private static final int LEAST_ROUNDS = 3;
    private static final int LEAST_MOMENTS = 40;
    private static final int MOMENTS_AGAIN = 10;

    /** Returns the warm-up time before a measurement counts. */
    Duration warmup() {
        return time.dividedBy(2);
    }

    /**
     * Starts two ends and runs each plan for a moment, again and again, until the JVMs have compiled the code. Each
     * moment includes the beginning and the end of a measurement: otherwise these would cause another compilation
     * later.
     */
    EndPair start(EndKind kind, List<TransferPlan> plans) {
        EndPair pair = EndPair.start(build, kind, active, passive, directory);
        try {
            int rounds = quick || plans.isEmpty() ? 0 : Math.max(LEAST_ROUNDS, LEAST_MOMENTS / plans.size());
            for (int round = 0; round < rounds; round++) {
                plans.forEach(plan -> pair.measure(plan, Duration.ZERO, MOMENT));
            }
            return pair;
        } catch (RuntimeException e) {
            pair.close();
            throw e;
        }
    }

    /**
     * Starts two sidecars with their applications, which connect by {@code tcp} or {@code sctp} and post through rings.
     */
    SidecarPair startSidecars(String llp) {
        return SidecarPair.start(build, active, passive, llp, QueuePath.RINGS);
    }

    /** Starts two sidecars with their applications, which connect by TCP. */
    SidecarPair startSidecars(QueuePath path) {
        return SidecarPair.start(build, active, passive, "tcp", path);
    }

    /** Runs the plan of connected ends for a moment, again and again, after the ends did other work. */
    void settleAgain(EndPair pair, TransferPlan plan) {
        for (int moment = 0; moment < (quick ? 0 : MOMENTS_AGAIN); moment++) {
            pair.run(plan, Duration.ZERO, MOMENT);
        }
    }

    /** Returns the same settings for the other build, if there is one. */
    Optional<Lab> before() {
        return against.map(other ->
                new Lab(other, Optional.empty(), active, passive, directory, time, quick, progress).saying("before: "));
    }

    /** Returns the same settings with a prefix for each line of progress. */
    Lab saying(String prefix) {
        return new Lab(build, against, active, passive, directory, time, quick, line -> progress.accept(prefix + line));
    }

    /** Returns the same settings with the ends in other places. */
    Lab at(Place otherActive, Place otherPassive) {
        return new Lab(build, against, otherActive, otherPassive, directory, time, quick, progress);
    }

    /** Measures a plan. */
    Measurement measure(EndPair pair, TransferPlan plan) {
        return pair.measure(plan, warmup(), time);
    }
}
