// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

/** A running sidecar, and clients that misuse it at random. A broken invariant is an AssertionError. */
interface Fuzzer extends AutoCloseable {

    /** Runs one round, which depends on its number and the seed alone, but for the moments. */
    void round(long number);

    /** Returns how many rounds there were. */
    long rounds();

    /** Returns how many changes or records the clients made. */
    long changes();

    /** Returns how much of that succeeded nevertheless. */
    long succeeded();

    /** Checks that nothing of the sessions that ended is still in memory. */
    void checkMemory();

    @Override
    void close();
}
