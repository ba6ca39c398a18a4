// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.bench.end.DutyOutcome;
import io.sidewarp.bench.end.TransferPlan;
import io.sidewarp.bench.end.Usage;

/**
 * Result of one plan.
 *
 * @param plan plan that was measured
 * @param outcome outcome at the end that kept the time
 * @param active resources that the end that kept the time used meanwhile
 * @param passive resources that the other end used
 */
public record Measurement(TransferPlan plan, DutyOutcome outcome, Usage active, Usage passive) {

    private static final double GIB = 1L << 30;

    public double messagesPerSecond() {
        return outcome.messages() * 1e9 / outcome.nanos();
    }

    public double gigabitsPerSecond() {
        return octets() * 8 / outcome.nanos();
    }

    /** Returns the seconds of processor time per GiB of payload. */
    public double cpuPerGib(Usage end) {
        return end.cpuNanos() / 1e9 / (octets() / GIB);
    }

    /** Returns the bytes of heap that an end allocated for each message. */
    public double allocatedPerMessage(Usage end) {
        return (double) end.allocatedOctets() / outcome.messages();
    }

    private double octets() {
        return (double) outcome.messages() * plan.size();
    }
}
