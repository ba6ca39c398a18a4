// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.service.session.Session;
import org.jspecify.annotations.Nullable;

/**
 * What to do when the client can take more. gRPC wants the handler while the call begins, before it is known what there
 * will be to send, and calls it on the transport's thread.
 */
final class ReadyHook {

    private volatile @Nullable Runnable armed;

    ReadyHook(ServerCallStreamObserver<?> observer) {
        observer.setOnReadyHandler(this::onReady);
    }

    /** Says what sends; it runs on the session's thread. Before it sends for the first time. */
    void arm(Session session, Runnable send) {
        armed = () -> session.context().run(send);
    }

    private void onReady() {
        Runnable handler = armed;
        if (handler != null) {
            handler.run();
        }
    }
}
