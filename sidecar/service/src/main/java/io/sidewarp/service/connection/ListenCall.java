// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Listener;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.Listening;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One Listen call and its listener. What waits for a slow client is bounded by the backlog: the engine rejects requests
 * beyond it. Confined to the session's thread.
 */
public final class ListenCall {

    private final SessionListeners owner;
    private final SessionContext context;
    private final ConnectionOptions options;
    private final StreamObserver<ListenResponse> observer;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private @Nullable Listener listener;
    private boolean bound;
    private boolean closing;

    ListenCall(
            SessionListeners owner,
            SessionContext context,
            ConnectionOptions options,
            StreamObserver<ListenResponse> observer) {
        this.owner = owner;
        this.context = context;
        this.options = options;
        this.observer = observer;
    }

    /** What its connections get where Accept does not say. */
    ConnectionOptions options() {
        return options;
    }

    void start(InetSocketAddress address, ListenAttributes attributes) {
        context.device()
                .listen(
                        address,
                        attributes,
                        request -> context.loop().execute(() -> {
                            if (closing) {
                                request.reject(new byte[0]);
                            } else {
                                owner.add(this, request);
                            }
                        }))
                .whenCompleteAsync(this::onBound, context.loop());
    }

    private void onBound(@Nullable Listener newListener, @Nullable Throwable failure) {
        bound = true;
        listener = newListener;
        if (newListener == null) {
            if (!closing) {
                closing = true;
                observer.onError(ApiError.from(failure == null ? new IllegalStateException("no listener") : failure));
            }
            finish();
        } else if (closing) {
            closeListener(newListener);
        } else {
            InetSocketAddress address = newListener.localAddress();
            send(ListenResponse.newBuilder()
                    .setListening(Listening.newBuilder()
                            .setAddress(ConnectionProtos.address(address))
                            .setPort(address.getPort())
                            .setUdpPort(newListener.udpPort().orElse(0)))
                    .build());
        }
    }

    void send(ListenResponse response) {
        observer.onNext(response);
    }

    /** The client left. */
    public void cancel() {
        close(null);
    }

    /** Stops listening. Complete when nothing is bound any more. */
    CompletableFuture<Void> close(@Nullable Status status) {
        if (!closing) {
            closing = true;
            if (status != null) {
                observer.onError(status.asRuntimeException());
            }
            Listener current = listener;
            if (current != null) {
                closeListener(current);
            } else if (bound) {
                finish();
            }
        }
        return closed;
    }

    private void closeListener(Listener current) {
        current.close().whenCompleteAsync((ignored, failure) -> finish(), context.loop());
    }

    private void finish() {
        owner.remove(this);
        closed.complete(null);
    }
}
