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

    private final Operation operation;
    private final boolean latency;
    private final int meetings;
    private final boolean reports;
    private final boolean farewell;

    PerftestKind(Operation operation, boolean latency, int meetings, boolean reports, boolean farewell) {
        this.operation = operation;
        this.latency = latency;
        this.meetings = meetings;
        this.reports = reports;
        this.farewell = farewell;
    }

    Operation operation() {
        return operation;
    }

    /** Returns whether a test sends one message at a time, there and back. */
    boolean latency() {
        return latency;
    }

    /**
     * Returns how often the two sides wait for each other before the data. Each side then knows where the memory is.
     */
    int meetings() {
        return meetings;
    }

    /** Returns whether the sides exchange their results. */
    boolean reports() {
        return reports;
    }

    /** Returns whether the sides wait for each other at the end. */
    boolean farewell() {
        return farewell;
    }

    /** Returns the name that users write. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
