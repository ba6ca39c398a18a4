// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.Operation;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.EndPair.Footprint;
import io.sidewarp.bench.process.Measurement;
import io.sidewarp.bench.result.Metric;
import io.sidewarp.bench.result.Recorder;
import io.sidewarp.bench.result.Subject;
import java.util.List;
import java.util.Locale;

/**
 * One to 10,000 connections between two engines: how fast they are set up, what memory of the processes each takes,
 * and what one gets that is busy while the others are idle.
 */
public final class ConnectionsPart implements PartRunner {

    /** Connections at the same time. */
    public static final List<Integer> COUNTS = List.of(1, 100, 1_000, 10_000);

    private static final List<Integer> QUICK_COUNTS = List.of(1, 100);

    /** What the busy one does. */
    private static final TransferPlan BUSY = TransferPlan.stream(Operation.WRITE, 1 << 20, 8);

    /** The busy one among so many. */
    public static Subject subject(int count) {
        return Samples.engine(BUSY.withConnections(count));
    }

    @Override
    public void repeat(Lab lab, Recorder recorder) {
        for (int count : lab.quick() ? QUICK_COUNTS : COUNTS) {
            try (EndPair pair = lab.start(EndKind.ENGINE, List.of(BUSY))) {
                measure(lab, recorder, pair, count);
            }
        }
    }

    private static void measure(Lab lab, Recorder recorder, EndPair pair, int count) {
        pair.connect(BUSY);
        Footprint before = pair.footprint();
        pair.release();

        TransferPlan crowd = BUSY.withIdle(count - 1);
        long begin = System.nanoTime();
        pair.connect(crowd);
        double seconds = (System.nanoTime() - begin) / 1e9;
        Footprint after = pair.footprint();
        lab.settleAgain(pair, crowd);
        Measurement busy = pair.run(crowd, lab.warmup(), lab.time());
        pair.release();

        Subject subject = subject(count);
        recorder.add(subject, Metric.GIGABITS_PER_SECOND, busy.gigabitsPerSecond());
        if (count > 1) {
            double active = (double) (after.activeOctets() - before.activeOctets()) / (count - 1);
            double passive = (double) (after.passiveOctets() - before.passiveOctets()) / (count - 1);
            recorder.add(subject, Metric.CONNECTIONS_PER_SECOND, count / seconds);
            recorder.add(subject, Metric.ACTIVE_OCTETS_PER_CONNECTION, active);
            recorder.add(subject, Metric.PASSIVE_OCTETS_PER_CONNECTION, passive);
            lab.progress()
                    .accept(String.format(
                            Locale.ROOT,
                            "%d connections: %.0f set up a second, %.0f and %.0f octets each",
                            count,
                            count / seconds,
                            active,
                            passive));
        }
        lab.progress()
                .accept(String.format(Locale.ROOT, "one busy of %d: %.2f Gbit/s", count, busy.gigabitsPerSecond()));
    }
}
