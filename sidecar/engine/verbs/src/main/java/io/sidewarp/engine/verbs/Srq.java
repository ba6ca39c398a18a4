// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/**
 * Receive queue that several queue pairs of a protection domain share. Each message takes the oldest receive. The
 * completion goes to the receive completion queue of the queue pair that took the receive. Thread-safe.
 */
public interface Srq extends AutoCloseable {

    /** Posts a receive into regions that all queue pairs of the domain may use. The request is copied. */
    PostResult postReceive(Wr request);

    /** Receives that can be posted or in use at a time. */
    int capacity();

    /** Receives that wait for messages. */
    int size();

    /**
     * Asks for one call of the listener when fewer than {@code receives} receives are left. A value of 0 cancels the
     * request. The listener runs on an event loop of the device and must not block.
     */
    void armLimit(int receives, Runnable listener);

    /** Closes the queue and drops posted receives. Throws IllegalStateException while queue pairs use the queue. */
    @Override
    void close();
}
