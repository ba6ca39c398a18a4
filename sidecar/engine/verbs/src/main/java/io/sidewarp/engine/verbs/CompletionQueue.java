// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.verbs;

/**
 * Completions of the queue pairs that were created with this queue, in the order in which the work completed. Any
 * thread may poll, one thread at a time.
 */
public interface CompletionQueue extends AutoCloseable {

    /**
     * Takes completions.
     *
     * @param into array that is filled from index 0 on
     * @return number of completions that were filled in, 0 when none are waiting
     */
    int poll(Cqe[] into);

    /**
     * Asks for one call of the listener. The call comes at once when completions are waiting, else after the next
     * completion. With {@code solicitedOnly} only a received Send with Solicited Event or an unsuccessful completion
     * causes the call. A completion that is being added during this call counts as well. The listener runs on an event
     * loop of the device and must not block. Poll and ask again inside the listener.
     */
    void requestNotification(Runnable listener, boolean solicitedOnly);

    /** Completions that the queue can hold. */
    int capacity();

    /**
     * Returns true after more completions arrived than the queue can hold. The queue pairs that use the queue were then
     * terminated. All others keep running (RFC 5040 section 8.1.1 item 10).
     */
    boolean isOverrun();

    /** Closes the queue. Throws IllegalStateException while queue pairs use the queue. */
    @Override
    void close();
}
