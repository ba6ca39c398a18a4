// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.engine.verbs.WorkCompletion;

/** Where the completion of posted work goes. Called on the session's thread. */
interface CompletionSink {

    /**
     * Work is complete. The completion is only valid during the call; must not post work.
     *
     * @param connection the API's id of the connection that carried it out, 0 when there is none
     * @param id the caller's
     * @param signaled false: the caller wants no completion for success
     */
    void complete(long connection, long id, boolean signaled, WorkCompletion completion);

    /** No more completions are there for now: send what was collected. May post work. */
    void flush();
}
