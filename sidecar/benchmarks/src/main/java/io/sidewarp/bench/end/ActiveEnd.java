// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

/** The end that connects, sends or asks, and keeps the time. Closed between two plans, not thread-safe. */
public interface ActiveEnd extends AutoCloseable {

    /** Gets ready for a plan with the passive end that listens at a port. */
    void connect(TransferPlan plan, int port) throws Exception;

    /** Transfers for about the given time. Called any number of times for a plan. */
    DutyOutcome run(long nanos) throws Exception;

    /** Ends the plan; without effect when there is none. */
    @Override
    void close() throws Exception;
}
