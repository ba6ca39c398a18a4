// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.perf.Operation;
import java.util.Locale;

/** A program of perftest, without its prefix {@code ib_}. */
enum PerftestKind {
    WRITE_BW(Operation.WRITE, false, 1, true, true),
    READ_BW(Operation.READ, false, 1, true, true),
    SEND_BW(Operation.SEND, false, 2, false, true),
    WRITE_LAT(Operation.WRITE, true, 2, false, false);

    final Operation operation;

    /** Whether a test sends one message at a time, there and back. */
    final boolean latency;

    /** Number of times that the two sides wait for each other before the data. Each then knows where the memory is. */
    final int meetings;

    /** Whether the sides exchange their results. */
    final boolean reports;

    /** Whether the sides wait for each other at the end. */
    final boolean farewell;

    PerftestKind(Operation operation, boolean latency, int meetings, boolean reports, boolean farewell) {
        this.operation = operation;
        this.latency = latency;
        this.meetings = meetings;
        this.reports = reports;
        this.farewell = farewell;
    }

    /** Returns the name that users write. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
