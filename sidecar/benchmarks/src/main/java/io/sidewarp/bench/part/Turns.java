// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.part;

import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.process.Program;
import io.sidewarp.bench.result.Subject;
import java.util.ArrayList;
import java.util.List;

/** A group of programs and plans that take turns. All of them meet the same phases of a shared machine. */
final class Turns {

    private final String group;
    private final List<Turn> turns = new ArrayList<>();

    private record Turn(Program program, TransferPlan plan, boolean reference) {}

    Turns(String group) {
        this.group = group;
    }

    /** Adds a reference. The other programs are compared with it. */
    Turns beside(Program program, TransferPlan plan) {
        turns.add(new Turn(program, plan, true));
        return this;
    }

    /** Adds a program with its plans. */
    Turns with(Program program, List<TransferPlan> plans) {
        plans.forEach(plan -> turns.add(new Turn(program, plan, false)));
        return this;
    }

    /** Adds a program with a plan. */
    Turns with(Program program, TransferPlan plan) {
        return with(program, List.of(plan));
    }

    /** Measures each plan in each round. */
    void measure(Lab lab, int rounds) {
        for (int round = 0; round < rounds; round++) {
            for (Turn turn : turns) {
                lab.record(
                        group,
                        turn.reference,
                        Subject.of(turn.program.name(), turn.plan),
                        turn.program.measure(turn.plan, lab.warmup(), lab.time()));
            }
        }
    }
}
