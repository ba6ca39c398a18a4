// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.service.context.SessionEvents;
import io.sidewarp.v1.OpenSessionResponse;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * The responses of an OpenSession call. Events wait here while the client does not read, up to a bound; then the oldest
 * are dropped, so that a client that never reads costs little. Confined to the session's thread.
 */
final class EventStream implements SessionEvents {

    static final int BOUND = 1024;

    private final ServerCallStreamObserver<OpenSessionResponse> observer;
    private final Consumer<OpenSessionResponse> onDropped;
    private final ArrayDeque<OpenSessionResponse> waiting = new ArrayDeque<>();
    private boolean closed;

    EventStream(ServerCallStreamObserver<OpenSessionResponse> observer, Consumer<OpenSessionResponse> onDropped) {
        this.observer = observer;
        this.onDropped = onDropped;
    }

    @Override
    public void event(OpenSessionResponse event) {
        if (closed) {
            return;
        }
        if (waiting.size() == BOUND) {
            onDropped.accept(waiting.remove());
        }
        waiting.add(event);
        flush();
    }

    /** Sends what the transport takes. */
    void flush() {
        while (!closed && !waiting.isEmpty() && observer.isReady()) {
            observer.onNext(waiting.remove());
        }
    }

    /** Nothing goes out any more; the client is gone. */
    void cancelled() {
        closed = true;
        waiting.clear();
    }

    /** Ends the call. */
    void close(StatusRuntimeException status) {
        if (!closed) {
            cancelled();
            observer.onError(status);
        }
    }
}
