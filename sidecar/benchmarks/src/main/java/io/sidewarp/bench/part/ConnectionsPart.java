// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.BenchOperation;
import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.EndPair.Footprint;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Measures up to 10,000 connections between two engines: the rate of set-up, and the memory of the processes for each
 * connection. Also measures one busy connection among idle ones, by turns with one that has processes for itself.
 */
public final class ConnectionsPart implements PartRunner {

    /** Numbers of connections at the same time. */
    public static final List<Integer> COUNTS = List.of(100, 1_000, 10_000);

    private static final List<Integer> QUICK_COUNTS = COUNTS.subList(0, 1);

    private static final int TURNS = 5;

    /**
     * Time for which connections are set up and closed before the set-up counts as warm; then the same for a quick run.
     */
    private static final Duration SETTING_UP = Duration.ofSeconds(20);

    private static final Duration QUICK_SETTING_UP = Duration.ofSeconds(1);

    /** Plan of the busy connection. */
    private static final TransferPlan BUSY = TransferPlan.stream(BenchOperation.WRITE, 1 << 20, 8);

    /** Returns the subject for the busy connection among {@code count} connections. */
    public static Subject subject(int count) {
        return Samples.engine(BUSY.withConnections(count));
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        try (EndPair alone = lab.start(EndKind.ENGINE, List.of(BUSY))) {
            alone.connect(BUSY);
            for (int count : lab.quick() ? QUICK_COUNTS : COUNTS) {
                try (EndPair crowd = lab.start(EndKind.ENGINE, List.of(BUSY))) {
                    measure(lab, recorder, alone, crowd, count);
                }
            }
            alone.release();
        }
    }

    private static void measure(Lab lab, Recorder recorder, EndPair alone, EndPair crowd, int count) {
        Subject subject = subject(count);
        crowd.connect(BUSY);
        Footprint before = crowd.footprint();
        crowd.release();

        TransferPlan plan = BUSY.withIdle(count - 1);
        double rate = setUp(crowd, plan);
        Footprint after = crowd.footprint();
        double active = (double) (after.activeOctets() - before.activeOctets()) / (count - 1);
        double passive = (double) (after.passiveOctets() - before.passiveOctets()) / (count - 1);
        recorder.add(subject, Metric.CONNECTIONS_PER_SECOND, rate);
        recorder.add(subject, Metric.ACTIVE_OCTETS_PER_CONNECTION, active);
        recorder.add(subject, Metric.PASSIVE_OCTETS_PER_CONNECTION, passive);
        lab.progress()
                .accept(String.format(
                        Locale.ROOT,
                        "%d connections: %.0f set up a second, %.0f and %.0f bytes each",
                        count,
                        rate,
                        active,
                        passive));

        lab.settleAgain(crowd, plan);
        Duration turn = lab.time().dividedBy(TURNS);
        for (int i = 0; i < TURNS; i++) {
            double one = alone.run(BUSY, turn, turn).gigabitsPerSecond();
            double among = crowd.run(plan, turn, turn).gigabitsPerSecond();
            recorder.add(subject, Metric.ALONE_GIGABITS_PER_SECOND, one);
            recorder.add(subject, Metric.GIGABITS_PER_SECOND, among);
            recorder.add(subject, Metric.OF_ONE_ALONE, among / one);
            lab.progress()
                    .accept(String.format(
                            Locale.ROOT, "one busy of %d: %.2f Gbit/s, one alone: %.2f", count, among, one));
        }
        crowd.release();

        double warm = warmRate(lab, crowd, plan);
        recorder.add(subject, Metric.WARM_CONNECTIONS_PER_SECOND, warm);
        lab.progress().accept(String.format(Locale.ROOT, "%d connections, warm: %.0f set up a second", count, warm));
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
