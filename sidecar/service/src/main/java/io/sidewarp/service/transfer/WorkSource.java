// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.v1.WorkCompletion;

/** Origin of work of a connection: a Queue call or a ring. Its methods run on the session's thread. */
interface WorkSource {

    /** Resumes waiting work, because the send queue of its connection may have space. */
    void resume();

    /** Takes the completion of work that the connection refused in order. */
    void refused(WorkCompletion completion);

    /** Notes that a connection has reported all its refusals. */
    void toldBy(ConnectionWork work);

    /** Sends the collected completions. */
    void flush();
}
