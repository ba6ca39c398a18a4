// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.EndKind;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.TransferPlan.Operation;
import io.sidewarp.bench.end.Waiting;
import io.sidewarp.bench.part.Plans.Step;
import io.sidewarp.bench.process.Certificates;
import io.sidewarp.bench.process.EndPair;
import io.sidewarp.bench.process.Iperf;
import io.sidewarp.cli.text.Sizes;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures engines with TLS. References are the TLS engine of the JDK over a bare socket, with the same records and
 * cipher suite, and iperf3 through two stunnels. Includes engines without TLS, and with TLS in place of CRCs.
 */
final class TlsPart {

    private static final List<Step> STEPS = List.of(Plans.MIDDLE, Plans.LARGE);
    private static final int ROUNDS = 8;

    /** Number of connections that are set up. A few at a time, since each needs a ticket of an earlier one. */
    private static final int CONNECTIONS = 1_000;

    private static final int QUICK_CONNECTIONS = 100;

    private TlsPart() {}

    static void repeat(Lab lab) {
        Certificates certificates = Certificates.make(lab.directory());
        String identity = certificates.directory().toString();
        List<TransferPlan> streams = new ArrayList<>();
        STEPS.forEach(step -> streams.addAll(engines(step, identity)));
        TransferPlan plain = Plans.small(Operation.WRITE, Waiting.SPIN);
        TransferPlan read = Plans.small(Operation.READ, Waiting.SPIN);
        List<TransferPlan> messages = List.of(plain, plain.withTls(identity), read, read.withTls(identity));
        List<TransferPlan> all = new ArrayList<>(streams);
        all.addAll(messages);
        List<TransferPlan> limits =
                STEPS.stream().map(step -> limit(step, identity)).toList();
        try (EndPair engine = lab.ends(EndKind.ENGINE, all);
                EndPair limit = lab.ends(EndKind.LIMIT, limits)) {
            for (Step step : STEPS) {
                new Turns(Sizes.format(step.size()))
                        .beside(limit, limit(step, identity))
                        .beside(
                                Iperf.of(Iperf.LARGE, false, "", lab.active(), lab.passive(), lab.directory())
                                        .through(certificates),
                                Plans.peer(Iperf.LARGE).withTls(identity))
                        .with(engine, engines(step, identity))
                        .measure(lab.inMoments(), lab.rounds(ROUNDS));
            }
            Turns turns = new Turns("8 B");
            messages.stream().filter(plan -> !plan.hasTls()).forEach(plan -> turns.beside(engine, plan));
            messages.stream().filter(TransferPlan::hasTls).forEach(plan -> turns.with(engine, plan));
            turns.measure(lab.inMoments(), lab.rounds(ROUNDS));
        }
        setUp(lab, identity);
    }

    /** Returns plans of Writes and Reads: without TLS, with it, and with it in place of CRCs. */
    private static List<TransferPlan> engines(Step step, String identity) {
        return Plans.engines(List.of(step)).stream()
                .flatMap(plan -> List.of(
                        plan, plan.withTls(identity), plan.withTls(identity).withCrc(false))
                        .stream())
                .toList();
    }

    private static TransferPlan limit(Step step, String identity) {
        return TransferPlan.stream(Operation.WRITE, step.size(), step.depth())
                .withTls(identity)
                .withCrc(false)
                .withWaiting(Waiting.SPIN);
    }

    /** Measures set-up and idle connections, with and without TLS. Nearly all of those with TLS use tickets. */
    private static void setUp(Lab lab, String identity) {
        TransferPlan plan = TransferPlan.stream(Operation.WRITE, Plans.MIB, 8)
                .withIdle(lab.quick() ? QUICK_CONNECTIONS : CONNECTIONS);
        for (TransferPlan each : List.of(plan, plan.withTls(identity))) {
            try (EndPair engine = lab.ends(EndKind.ENGINE, List.of())) {
                ConnectionsPart.recordFirstSetUp(lab, "set-up", engine, each);
                ConnectionsPart.recordWarmSetUp(lab, "set-up", engine, each);
                // Compiled code would count as memory of connections before.
                ConnectionsPart.recordMemory(lab, "set-up", engine, each);
                engine.release();
            }
        }
    }
}
