// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/**
 * Receives that several queue pairs of a protection domain share: each message takes the oldest. Their completions go to
 * the receive completion queue of the queue pair that took them. Thread-safe.
 */
public interface SharedReceiveQueue extends AutoCloseable {

    /** Posts a receive into regions that all queue pairs of the domain may use. The request is copied. */
    PostResult postReceive(WorkRequest request);

    /** Receives that can be posted or in use at a time. */
    int capacity();

    /** Receives that wait for messages. */
    int size();

    /**
     * Asks for one call of the listener when fewer receives than a number are left; asks for none with 0. The listener
     * runs on an event loop of the device and must not block.
     */
    void armLimit(int receives, Runnable listener);

    /** Refused with IllegalStateException while queue pairs use it. What is posted is forgotten. */
    @Override
    void close();
}
