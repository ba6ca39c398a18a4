// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Profile;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Profiles the processors of two engines during a stream: samples of perf, sorted by kind of work. */
public final class ProfilePart implements PartRunner {

    private static final Duration TIME = Duration.ofSeconds(4);

    /** Time of a quick profile, since perf takes some time to begin. */
    private static final Duration QUICK_TIME = Duration.ofSeconds(2);

    /** Returns the plans of the streams. */
    public static List<TransferPlan> plans() {
        List<TransferPlan> plans = new ArrayList<>();
        for (BenchOperation operation : List.of(BenchOperation.WRITE, BenchOperation.READ)) {
            MomentsPart.STEPS.forEach(step -> plans.add(step.plan(operation)));
        }
        return plans;
    }

    /** Returns the subject for the end that asks. */
    public static Subject activeEnd(TransferPlan plan) {
        return Samples.engine(plan).of("active end");
    }

    /** Returns the subject for the other end. */
    public static Subject passiveEnd(TransferPlan plan) {
        return Samples.engine(plan).of("passive end");
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        lab.before().ifPresent(before -> profile(before, recorder.before()));
        profile(lab, recorder);
    }

    private static void profile(Lab lab, Recorder recorder) {
        try (EndPair pair = lab.start(EndKind.ENGINE, plans())) {
            for (TransferPlan plan : plans()) {
                pair.connect(plan);
                pair.run(plan, Duration.ZERO, lab.time());
                profile(lab, recorder, pair, plan);
                pair.release();
            }
        }
    }

    private static void profile(Lab lab, Recorder recorder, EndPair pair, TransferPlan plan) {
        try (Profile active = Profile.begin(pair.activePid(), lab.directory());
                Profile passive = Profile.begin(pair.passivePid(), lab.directory())) {
            double rate = pair.run(plan, Duration.ZERO, lab.quick() ? QUICK_TIME : TIME)
                    .gigabitsPerSecond();
            recorder.add(Samples.engine(plan), Metric.GIGABITS_PER_SECOND, rate);
            active.end().forEach((metric, percent) -> recorder.add(activeEnd(plan), metric, percent));
            passive.end().forEach((metric, percent) -> recorder.add(passiveEnd(plan), metric, percent));
            lab.progress()
                    .accept(Samples.describe(Samples.engine(plan))
                            + String.format(Locale.ROOT, ": %.2f Gbit/s beside the profiler", rate));
        }
    }
}
