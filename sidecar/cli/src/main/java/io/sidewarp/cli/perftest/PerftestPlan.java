// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.Failure;
import io.sidewarp.cli.perf.Operation;

/**
 * Plan of a measurement. Both sides must have the same plan.
 *
 * @param connections queue pairs of the test
 * @param depth messages in flight on a connection
 * @param iterations messages of a connection
 * @param size bytes of a message
 */
record PerftestPlan(PerftestKind kind, int connections, int depth, int iterations, int size) {

    /** @throws Failure when a number is out of its range */
    PerftestPlan {
        Failure.checkRange("connections", connections, 1, kind.latency ? 1 : 1024);
        Failure.checkRange("depth", depth, 1, 1 << 12);
        Failure.checkRange("iterations", iterations, 1, 1_000_000_000);
        Failure.checkRange("size", size, 1, 1 << 30);
    }

    long messages() {
        return (long) connections * iterations;
    }

    /**
     * Returns the receives that the server of Sends posts on a connection. All are posted, because iWARP has no retry
     * (RFC 5041 section 7.1).
     */
    int receives() {
        return kind.operation == Operation.SEND ? iterations : 0;
    }
}
