// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.connection;

import io.grpc.Status;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.VerbsListener;
import io.sidewarp.service.context.Responses;
import io.sidewarp.service.context.SessionContext;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.Listening;
import java.net.InetSocketAddress;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One Listen call and its listener. Requests that a slow client has not read yet are queued here while they wait for an
 * answer. The backlog bounds that queue, because the engine rejects requests beyond it. Confined to the session's
 * thread.
 */
public final class ListenCall {

    private final SessionListeners owner;
    private final SessionContext context;
    private final ConnectionOptions options;
    private final Responses<ListenResponse> responses;
    private final Map<Long, ListenResponse> untold = new LinkedHashMap<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private @Nullable VerbsListener listener;
    private boolean bound;
    private boolean closing;

    ListenCall(
            SessionListeners owner,
            SessionContext context,
            ConnectionOptions options,
            Responses<ListenResponse> responses) {
        this.owner = owner;
        this.context = context;
        this.options = options;
        this.responses = responses;
    }

    /** Returns the options of accepted connections, for fields that Accept leaves unset. */
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
                                request.refuse();
                            } else {
                                owner.add(this, request);
                            }
                        }))
                .whenCompleteAsync(this::onBound, context.loop());
    }

    private void onBound(@Nullable VerbsListener newListener, @Nullable Throwable failure) {
        bound = true;
        listener = newListener;
        if (newListener == null) {
            if (!closing) {
                closing = true;
                responses.onError(ApiError.from(failure == null ? new IllegalStateException("no listener") : failure));
            }
            finish();
        } else if (closing) {
            closeListener(newListener);
        } else {
            InetSocketAddress address = newListener.localAddress();
            responses.onNext(ListenResponse.newBuilder()
                    .setListening(Listening.newBuilder()
                            .setAddress(ConnectionProtos.address(address))
                            .setPort(address.getPort())
                            .setUdpPort(newListener.udpPort().orElse(0)))
                    .build());
            flush();
        }
    }

    /** Sends a request to the client as soon as the client reads. */
    void tell(ListenResponse request) {
        untold.put(request.getRequest().getId(), request);
        flush();
    }

    /** Drops a request that no longer waits for an answer. */
    void forget(long request) {
        untold.remove(request);
    }

    /** Sends queued requests while the transport accepts data. The listening address is sent first. */
    public void flush() {
        Iterator<ListenResponse> next = untold.values().iterator();
        while (listener != null && !closing && next.hasNext() && responses.isReady()) {
            responses.onNext(next.next());
            next.remove();
        }
    }

    /** Closes the listener because the client has left, or at its request. The result is complete when it is closed. */
    public CompletableFuture<Void> cancel() {
        return close(null);
    }

    /** Stops listening. The result is complete when nothing is bound any more. */
    CompletableFuture<Void> close(@Nullable Status status) {
        if (!closing) {
            closing = true;
            if (status != null) {
                responses.onError(ApiError.of(status.getCode(), String.valueOf(status.getDescription())));
            }
            if (listener != null) {
                closeListener(listener);
            } else if (bound) {
                finish();
            }
        }
        return closed;
    }

    private void closeListener(VerbsListener current) {
        current.close().whenCompleteAsync((ignored, failure) -> finish(), context.loop());
    }

    private void finish() {
        untold.clear();
        owner.remove(this);
        closed.complete(null);
    }
}
