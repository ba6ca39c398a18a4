// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.service.session.SidecarSession;
import org.jspecify.annotations.Nullable;

/**
 * Undoes a call's work if the client leaves before the call has ended. The handler of gRPC must be set at the beginning
 * of the call, when the undo action is still unknown. It runs on the transport's thread.
 */
final class CancelHook {

    private @Nullable SidecarSession session;
    private @Nullable Runnable undo;
    private boolean cancelled;

    CancelHook(ServerCallStreamObserver<?> observer) {
        observer.setOnCancelHandler(this::onCancel);
    }

    /** Sets the undo action. Runs the action at once if the client has left already. Called on the session's thread. */
    void arm(SidecarSession armedSession, Runnable newUndo) {
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
        SidecarSession armedSession;
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
