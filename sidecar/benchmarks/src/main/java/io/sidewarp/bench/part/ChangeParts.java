// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.part.Plans.Step;
import io.sidewarp.bench.process.BesideStream;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Profile;
import io.sidewarp.bench.process.Program;
import io.sidewarp.bench.process.SidecarPair;
import io.sidewarp.bench.result.Subject;
import io.sidewarp.client.QueuePath;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Parts that show the effect of a change. */
final class ChangeParts {

    /** Sizes and depths of the streams. */
    static final List<Step> STEPS = List.of(Plans.PAGES, Plans.MIDDLE, Plans.LARGE);

    private static final int ROUNDS = 3;

    private static final Duration PROFILE_TIME = Duration.ofSeconds(4);

    /** Time of a quick profile, since perf takes some time to begin. */
    private static final Duration QUICK_PROFILE_TIME = Duration.ofSeconds(2);

    private static final List<TransferPlan> PROFILED = Plans.engines(List.of(Plans.MIDDLE, Plans.LARGE));

    private ChangeParts() {}

    /** Compares engines, and applications through two sidecars, with those of another build, both warm. */
    static void comparison(Lab lab) {
        Lab before = lab.before().orElseThrow(() -> new IllegalStateException("no build to compare with"));
        List<TransferPlan> plans = new ArrayList<>(Plans.engines(STEPS));
        Plans.OPERATIONS.forEach(
                operation -> plans.add(Plans.LARGE.engine(operation).withConnections(EngineParts.CONNECTIONS)));
        plans.addAll(ApplicationPart.messages(List.of(Plans.SMALL), Waiting.SPIN));
        try (EndPair other = before.ends(EndKind.ENGINE, plans);
                EndPair own = lab.ends(EndKind.ENGINE, plans)) {
            plans.forEach(plan -> compare(lab, other, own, plan));
        }
        List<TransferPlan> ofApplications = new ArrayList<>(Plans.applications(STEPS));
        ofApplications.addAll(ApplicationPart.messages(List.of(Plans.SMALL), Waiting.ADAPTIVE));
        try (SidecarPair other = before.applications("tcp", QueuePath.RINGS);
                SidecarPair own = lab.applications("tcp", QueuePath.RINGS)) {
            for (SidecarPair pair : List.of(other, own)) {
                lab.settle(pair, ofApplications);
                ApplicationPart.BESIDE.forEach(
                        stream -> lab.settleBriefly(new BesideStream(pair, stream), ApplicationPart.MESSAGE));
            }
            ofApplications.forEach(plan -> compare(lab, other, own, plan));
            ApplicationPart.BESIDE.forEach(stream -> compare(
                    lab, new BesideStream(other, stream), new BesideStream(own, stream), ApplicationPart.MESSAGE));
        }
    }

    private static void compare(Lab lab, Program before, Program own, TransferPlan plan) {
        new Turns(Subject.of(own.name(), plan).toString())
                .beside(before, plan)
                .with(own, plan)
                .measure(lab, lab.rounds(ROUNDS));
    }

    /** Samples the processors of two engines during streams by perf, and sorts the samples by kind of work. */
    static void profile(Lab lab) {
        lab.before().ifPresent(before -> profileBuild(before));
        profileBuild(lab);
    }

    private static void profileBuild(Lab lab) {
        try (EndPair pair = lab.ends(EndKind.ENGINE, PROFILED)) {
            for (TransferPlan plan : PROFILED) {
                pair.connect(plan);
                pair.run(plan, Duration.ZERO, lab.time());
                profileStream(lab, pair, plan);
                pair.release();
            }
        }
    }

    private static void profileStream(Lab lab, EndPair pair, TransferPlan plan) {
        try (Profile active = Profile.begin(pair.activePid(), lab.directory());
                Profile passive = Profile.begin(pair.passivePid(), lab.directory())) {
            Subject subject = Subject.of(pair.name(), plan);
            String group = "profile";
            lab.record(
                    "streams beside the profiler",
                    false,
                    subject,
                    pair.run(plan, Duration.ZERO, lab.quick() ? QUICK_PROFILE_TIME : PROFILE_TIME));
            Subject asking = Subject.of("active end" + lab.variant(), plan);
            lab.record(group, false, asking, active.end());
            Subject other = Subject.of("passive end" + lab.variant(), plan);
            lab.record(group, false, other, passive.end());
        }
    }
}
