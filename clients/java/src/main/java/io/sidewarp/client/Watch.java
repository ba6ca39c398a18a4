// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.WatchConnectionRequest;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** One WatchConnection call. The listener runs on a virtual thread, so it may block. */
final class Watch implements Subscription {

    private final GrpcSession session;
    private final StreamCall call;
    private final Consumer<SidewarpException> failure = this::fail;
    private final ExecutorService events;

    private Watch(GrpcSession session, WatchConnectionRequest request, Consumer<ConnectionEvent> listener) {
        this.session = session;
        ConnectionTraffic traffic = session.traffic().of(request.getConnection());
        ExecutorService executor = Executors.newSingleThreadExecutor(
                Thread.ofVirtual().name("sidewarp-connection-watch").factory());
        events = executor;
        call = StreamCall.start(
                session.client().transport(),
                session.client().target(),
                ConnectionServiceGrpc.getWatchConnectionMethod(),
                request,
                response -> traffic.runBehind(response.getChange().getCompletions(), () -> {
                    if (!executor.isShutdown()) {
                        executor.execute(() -> listener.accept(Descriptions.event(response.getChange())));
                    }
                }),
                end -> traffic.runBehind(0, () -> {
                    executor.shutdown();
                    session.forget(failure);
                }));
    }

    static Watch start(GrpcSession session, WatchConnectionRequest request, Consumer<ConnectionEvent> listener) {
        session.checkOpen();
        Watch watch = new Watch(session, request, listener);
        session.failAtEnd(watch.failure);
        if (watch.events.isShutdown()) {
            // The call ended before the session knew of it.
            session.forget(watch.failure);
        }
        return watch;
    }

    private void fail(SidewarpException cause) {
        call.cancel(cause.getMessage());
    }

    @Override
    public void close() {
        session.forget(failure);
        events.shutdown();
        call.cancel("closed by the caller");
    }
}
