// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/**
 * Completions of the queue pairs that were created with it, in the order in which the work completed. Any thread may
 * poll, one at a time.
 */
public interface CompletionQueue extends AutoCloseable {

    /**
     * Takes completions.
     *
     * @param into filled from index 0 on
     * @return how many were filled, 0 when there are none
     */
    int poll(WorkCompletion[] into);

    /**
     * Asks for one call of the listener: at once when completions are waiting, else after the next one (with
     * {@code solicitedOnly}, after the next received Send with Solicited Event or unsuccessful completion, or one that is
     * being added right now). The listener runs on an event loop of the device and must not block; poll and ask again
     * inside it.
     */
    void requestNotification(Runnable listener, boolean solicitedOnly);

    /** Entries that it holds. */
    int capacity();

    /**
     * True after more completions arrived than it could hold. The queue pairs that use it were then terminated (RFC 5040
     * section 8.1.1 item 10 keeps all others running).
     */
    boolean isOverrun();

    /** Refused with IllegalStateException while queue pairs use it. */
    @Override
    void close();
}
