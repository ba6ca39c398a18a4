// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.v1.WorkCompletion;

/** Where work of a connection comes from: a Queue call, or a ring. Its methods run on the session's thread. */
interface WorkSource {

    /** Goes on with work that waited: there may be space on the send queue of its connection. */
    void resume();

    /** Takes the completion of work that the connection refused in its turn. */
    void refused(WorkCompletion completion);

    /** Notes that a connection has told all that it refused. */
    void toldBy(ConnectionWork work);

    /** Sends what was collected. */
    void flush();
}
