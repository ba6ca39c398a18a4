// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

/** The end that is connected for a plan, sends or asks, and keeps the time. Not thread-safe. */
@FunctionalInterface
public interface ActiveEnd extends AutoCloseable {

    /** Transfers for about the given time. Called any number of times. */
    DutyOutcome run(long nanos) throws Exception;

    @Override
    default void close() throws Exception {}
}
