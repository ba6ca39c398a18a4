// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.engine.verbs.Cqe;

/** Destination of completions of posted work. Called on the session's thread. */
interface CompletionTarget {

    /**
     * Takes a completion, which is only valid during the call. Must not post work.
     *
     * @param connection the API's id of the connection that carried out the work, 0 if there is none
     * @param id the caller's id of the work
     * @param signaled false if the caller wants no completion for success
     */
    void complete(long connection, long id, boolean signaled, Cqe completion);

    /** Sends the collected completions, because no more are available for now. May post work. */
    void flush();
}
