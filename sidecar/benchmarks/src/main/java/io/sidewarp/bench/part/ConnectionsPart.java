// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Program;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Subject;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Measures up to 10,000 connections between two engines: the rate of set-up, and the memory of the processes for each
 * connection. Also measures one busy connection among idle ones, by turns with one that has processes for itself.
 */
final class ConnectionsPart {

    /** Numbers of connections at the same time. */
    private static final List<Integer> COUNTS = List.of(100, 1_000, 10_000);

    private static final int ROUNDS = 5;
    private static final int ROUNDS_TO_SETTLE = 3;

    /** Time for which connections are set up and closed before the set-up counts as warm. */
    private static final Duration SETTING_UP = Duration.ofSeconds(20);

    private static final Duration QUICK_SETTING_UP = Duration.ofSeconds(1);

    /** Plan of the busy connection. */
    private static final TransferPlan BUSY = TransferPlan.stream(Operation.WRITE, Plans.MIB, 8);

    /** Ends that stay connected from one measurement to the next. */
    private record Connected(String name, EndPair pair) implements Program {

        @Override
        public Map<Metric, Double> measure(TransferPlan plan, Duration warmup, Duration time) {
            return pair.run(plan, warmup, time);
        }
    }

    private ConnectionsPart() {}

    static void repeat(Lab lab) {
        try (EndPair alone = lab.ends(EndKind.ENGINE, List.of(BUSY))) {
            alone.connect(BUSY);
            for (int count : lab.choose(COUNTS, COUNTS.subList(0, 1))) {
                try (EndPair crowd = lab.ends(EndKind.ENGINE, List.of(BUSY))) {
                    measure(lab, alone, crowd, BUSY.withIdle(count - 1));
                }
            }
            alone.release();
        }
    }

    private static void measure(Lab lab, EndPair alone, EndPair crowd, TransferPlan plan) {
        Subject subject = Subject.of(crowd.name(), plan);
        recordSetUp(lab, "set-up", crowd, plan);
        Turns turns = new Turns("one busy of " + subject.connections())
                .beside(new Connected("engine alone", alone), BUSY)
                .with(new Connected(crowd.name(), crowd), plan);
        for (int round = 0; round < (lab.quick() ? 0 : ROUNDS_TO_SETTLE); round++) {
            crowd.run(plan, Duration.ZERO, lab.time());
        }
        turns.measure(lab.inMoments(), lab.rounds(ROUNDS));
        crowd.release();
        recordWarmSetUp(lab, "set-up", crowd, plan);
    }

    /**
     * Records the rate at which idle connections are set up, and the memory of each. They stay connected.
     *
     * @param plan plan with idle connections
     */
    static void recordSetUp(Lab lab, String group, EndPair ends, TransferPlan plan) {
        lab.record(group, false, Subject.of(ends.name(), plan), costs(ends, plan));
    }

    private static Map<Metric, Double> costs(EndPair ends, TransferPlan plan) {
        ends.connect(plan.withIdle(0));
        long active = ends.activeMemory();
        long passive = ends.passiveMemory();
        ends.release();
        double rate = setUp(ends, plan);
        double idle = plan.idle();
        return Map.of(
                Metric.CONNECTIONS_PER_SECOND, rate,
                Metric.ACTIVE_OCTETS_PER_CONNECTION, (ends.activeMemory() - active) / idle,
                Metric.PASSIVE_OCTETS_PER_CONNECTION, (ends.passiveMemory() - passive) / idle);
    }

    /** Records the rate at which idle connections are set up for the first time, and ends them. */
    static void recordFirstSetUp(Lab lab, String group, EndPair ends, TransferPlan plan) {
        double rate = setUp(ends, plan);
        ends.release();
        lab.record(group, false, Subject.of(ends.name(), plan), Map.of(Metric.CONNECTIONS_PER_SECOND, rate));
    }

    /** Records the memory of each idle connection. They stay connected. */
    static void recordMemory(Lab lab, String group, EndPair ends, TransferPlan plan) {
        Map<Metric, Double> costs = new EnumMap<>(costs(ends, plan));
        costs.remove(Metric.CONNECTIONS_PER_SECOND);
        lab.record(group, false, Subject.of(ends.name(), plan), costs);
    }

    /** Records the rate of set-up after processes have done this for some time. */
    static void recordWarmSetUp(Lab lab, String group, EndPair ends, TransferPlan plan) {
        Map<Metric, Double> warm = Map.of(Metric.WARM_CONNECTIONS_PER_SECOND, warmRate(lab, ends, plan));
        lab.record(group, false, Subject.of(ends.name(), plan), warm);
    }

    /** Returns the connections a second that the same processes set up after doing this for some time. */
    private static double warmRate(Lab lab, EndPair crowd, TransferPlan plan) {
        long begin = System.nanoTime();
        long wanted = (lab.quick() ? QUICK_SETTING_UP : SETTING_UP).toNanos();
        while (true) {
            double rate = setUp(crowd, plan);
            crowd.release();
            if (System.nanoTime() - begin >= wanted) {
                return rate;
            }
        }
    }

    /** Connects, and returns the number of connections a second. Both ends open their devices first. */
    private static double setUp(EndPair crowd, TransferPlan plan) {
        long begin = System.nanoTime();
        crowd.connect(plan);
        return (plan.connections() + plan.idle()) / ((System.nanoTime() - begin) / 1e9);
    }
}
