// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.service.session.SidecarSession;
import org.jspecify.annotations.Nullable;

/**
 * Continues sending when the client can take more. The handler of gRPC must be set at the beginning of the call, when
 * the sender is still unknown. It runs on the transport's thread.
 */
final class ReadyHook {

    private volatile @Nullable Runnable armed;

    ReadyHook(ServerCallStreamObserver<?> observer) {
        observer.setOnReadyHandler(this::onReady);
    }

    /** Sets the action that sends, which runs on the session's thread. Must be called before the first send. */
    void arm(SidecarSession session, Runnable send) {
        armed = () -> session.context().run(send);
    }

    private void onReady() {
        Runnable handler = armed;
        if (handler != null) {
            handler.run();
        }
    }
}
