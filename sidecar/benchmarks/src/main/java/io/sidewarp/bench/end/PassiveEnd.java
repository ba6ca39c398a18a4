// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

/** The end that listens, and does what the active end asks for. Closed between two plans, not thread-safe. */
public interface PassiveEnd extends AutoCloseable {

    /** Gets ready for a plan; returns the port where it listens. */
    int listen(TransferPlan plan) throws Exception;

    /** Ends the plan; without effect when there is none. */
    @Override
    void close() throws Exception;
}
