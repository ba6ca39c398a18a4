// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.engine.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Where the completions of a Queue call's work go. Work may be outstanding for long when its call has ended: it keeps
 * this, and nothing else of the call. Confined to the session's thread.
 */
final class QueueSink implements CompletionSink {

    private @Nullable QueueCall call;

    QueueSink(QueueCall call) {
        this.call = call;
    }

    /** Nobody wants to know any more. */
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
