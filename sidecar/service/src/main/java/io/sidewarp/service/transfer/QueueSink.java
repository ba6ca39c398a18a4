// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.engine.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Sink for completions of a Queue call's work. Work can be outstanding long after its call has ended: it then
 * references only this object and not the call. Confined to the session's thread.
 */
final class QueueSink implements CompletionSink {

    private @Nullable QueueCall call;

    QueueSink(QueueCall call) {
        this.call = call;
    }

    /** Drops all further completions. */
    void leave() {
        call = null;
    }

    @Override
    public void complete(long connection, long id, boolean signaled, WorkCompletion completion) {
        QueueCall current = call;
        if (current != null) {
            current.complete(connection, id, signaled, completion);
        }
    }

    @Override
    public void flush() {
        QueueCall current = call;
        if (current != null) {
            current.flush();
        }
    }
}
