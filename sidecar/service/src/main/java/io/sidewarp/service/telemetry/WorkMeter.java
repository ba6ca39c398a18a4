// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.telemetry;

import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.WrOpcode;
import java.util.SplittableRandom;

/**
 * Counts the work of one session's thread for {@link WorkTotals}. It counts in plain fields while a batch of
 * completions is handled, and publishes once per batch. Latency is measured for a random sample of work requests: a
 * fixed interval would always hit the same kind of work if kinds alternate. Allocates nothing for work that succeeds.
 * Confined to the session's thread.
 */
public final class WorkMeter {

    private static final WrOpcode[] OPCODES = WrOpcode.values();

    private final WorkTotals totals;
    private final int sampling;
    private final long[] messages = new long[OPCODES.length];
    private final long[] octets = new long[OPCODES.length];
    private final SplittableRandom distances = new SplittableRandom();
    private int untilSample = 1;

    WorkMeter(WorkTotals totals, int sampling) {
        this.totals = totals;
        this.sampling = sampling;
    }

    /** Returns System.nanoTime() for a work request whose latency is measured, else 0. */
    public long begin() {
        if (--untilSample > 0) {
            return 0;
        }
        untilSample = distances.nextInt(1, 2 * sampling);
        long now = System.nanoTime();
        return now == 0 ? 1 : now;
    }

    /**
     * Counts a completion.
     *
     * @param begin result of {@link #begin()} for the work request
     */
    public void completed(Cqe completion, long begin) {
        int index = completion.opcode().ordinal();
        if (completion.status() == CqeStatus.SUCCESS) {
            // The queue pair counts received Immediate Data.
            messages[index] += completion.isImmediate() ? 0 : 1;
            octets[index] += completion.length();
            if (begin != 0) {
                totals.latency(completion.opcode(), System.nanoTime() - begin);
            }
        } else {
            totals.error(completion.opcode(), completion.status());
        }
    }

    /** Publishes the counts. */
    public void publish() {
        for (int i = 0; i < messages.length; i++) {
            if (messages[i] != 0) {
                totals.add(OPCODES[i], messages[i], octets[i]);
                messages[i] = 0;
                octets[i] = 0;
            }
        }
    }
}
