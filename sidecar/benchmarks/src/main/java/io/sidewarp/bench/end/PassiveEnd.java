// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.end;

/** The end that listens for a plan, and does what the active end asks for. Not thread-safe. */
@FunctionalInterface
public interface PassiveEnd extends AutoCloseable {

    /** Returns the port where the end listens; 0 if it needs none. */
    int port();

    @Override
    default void close() throws Exception {}
}
