// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.service.session.Session;
import org.jspecify.annotations.Nullable;

/**
 * What to do when the client leaves before the end of its call has gone out to it. gRPC wants the handler while the call
 * begins, before it is known what there will be to undo, and calls it on the transport's thread.
 */
final class CancelHook {

    private @Nullable Session session;
    private @Nullable Runnable undo;
    private boolean cancelled;

    CancelHook(ServerCallStreamObserver<?> observer) {
        observer.setOnCancelHandler(this::onCancel);
    }

    /** Says what to undo. Done at once when the client has left already. On the session's thread. */
    void arm(Session armedSession, Runnable newUndo) {
        synchronized (this) {
            session = armedSession;
            undo = newUndo;
            if (!cancelled) {
                return;
            }
        }
        newUndo.run();
    }

    private void onCancel() {
        Session armedSession;
        Runnable armed;
        synchronized (this) {
            cancelled = true;
            armedSession = session;
            armed = undo;
        }
        if (armed != null && armedSession != null) {
            armedSession.context().run(armed);
        }
    }
}
