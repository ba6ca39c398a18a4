// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.process.Build;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Iperf;
import io.sidewarp.bench.process.Place;
import io.sidewarp.bench.process.Program;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.cli.Failure;
import io.sidewarp.client.QueuePath;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

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
 * @param variant what follows the names of programs
 * @param recorder receives all figures
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
        String variant,
        Recorder recorder,
        Consumer<String> progress) {

    private static final Duration MOMENT = Duration.ofMillis(300);
    private static final int LEAST_ROUNDS = 3;
    private static final int LEAST_MOMENTS = 40;
    private static final int MOMENTS_OF_A_TIME = 4;

    /** Time to settle. If application and sidecar share a processor, their JVMs compile for more than a minute. */
    private static final Duration SETTLING = Duration.ofSeconds(90);

    /** Returns the warm-up time before a measurement counts. */
    Duration warmup() {
        return time.dividedBy(2);
    }

    static void pause(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.interrupted();
        }
    }

    /** Returns a number of rounds, or one for a short look. */
    int rounds(int count) {
        return quick ? 1 : count;
    }

    /** Returns all of a list, or some of it for a short look. */
    <T> List<T> choose(List<T> all, List<T> some) {
        return quick ? some : all;
    }

    /** Starts one stream of iperf3 at a time. */
    Program iperf(int size, boolean local) {
        return Iperf.of(size, local, variant, active, passive, directory);
    }

    /**
     * Starts two ends and runs each plan for a moment repeatedly until the JVMs have compiled the code. Each
     * moment includes the beginning and the end of a measurement: otherwise these would cause another compilation
     * later.
     */
    EndPair ends(EndKind kind, List<TransferPlan> plans) {
        EndPair pair = EndPair.start(kind.program() + variant, build, kind, active, passive, directory);
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

    /** Starts two sidecars with their applications, which connect by {@code tcp} or {@code sctp}. */
    SidecarPair applications(String llp, QueuePath path) {
        return new SidecarPair("application" + variant, build, active, passive, llp, path);
    }

    /** Repeats plans in short turns until everything has settled, before anything counts. */
    void settle(Program program, List<TransferPlan> plans) {
        long end = System.nanoTime() + (quick ? 0 : SETTLING.toNanos());
        while (System.nanoTime() - end < 0) {
            plans.forEach(plan -> program.measure(plan, Duration.ZERO, MOMENT));
        }
    }

    /** Measures a plan for some moments, unless this is a short look. */
    void settleBriefly(Program program, TransferPlan plan) {
        for (int round = 0; round < (quick ? 0 : LEAST_ROUNDS); round++) {
            program.measure(plan, Duration.ZERO, MOMENT);
        }
    }

    /** Records figures of a subject, and tells of them; {@link Recorder#add}. */
    void record(String group, boolean reference, Subject subject, Map<Metric, Double> figures) {
        recorder.add(group, reference, subject, figures);
        String told = new EnumMap<>(figures)
                .entrySet().stream()
                        .filter(figure -> figure.getKey().isReported())
                        .map(figure -> String.format(Locale.ROOT, "%.2f %s", figure.getValue(), figure.getKey()))
                        .collect(Collectors.joining(", "));
        progress.accept(subject + ": " + told);
    }

    /** Returns the same settings for the other build, if there is one. */
    Optional<Lab> before() {
        return against.map(other -> copy(other, active, passive, time, variant + " before"));
    }

    /** Returns the same settings for a variant of the programs. */
    Lab named(String newVariant) {
        return copy(build, active, passive, time, " " + newVariant);
    }

    /** Returns the same settings with the ends in other places. */
    Lab at(Place otherActive, Place otherPassive) {
        return copy(build, otherActive, otherPassive, time, variant);
    }

    /** Returns the same settings for short measurements, so that there can be more of them. */
    Lab inMoments() {
        return copy(build, active, passive, time.dividedBy(MOMENTS_OF_A_TIME), variant);
    }

    private Lab copy(Build newBuild, Place newActive, Place newPassive, Duration newTime, String newVariant) {
        return new Lab(
                newBuild, against, newActive, newPassive, directory, newTime, quick, newVariant, recorder, progress);
    }
}
