// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import io.grpc.StatusRuntimeException;
import io.sidewarp.service.context.Responses;
import io.sidewarp.v1.EventsLost;
import io.sidewarp.v1.OpenSessionResponse;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * Responses to the client that opened a session. Events wait here while the client does not read. Above a bound the oldest events
 * are dropped, and their number is reported in their place. Confined to the session's thread.
 */
final class EventStream {

    static final int BOUND = 1024;

    private final Responses<OpenSessionResponse> responses;
    private final Consumer<OpenSessionResponse> onDropped;
    private final ArrayDeque<OpenSessionResponse> waiting = new ArrayDeque<>();
    /** Number of dropped events that was not reported yet. */
    private long lost;

    private boolean closed;

    EventStream(Responses<OpenSessionResponse> responses, Consumer<OpenSessionResponse> onDropped) {
        this.responses = responses;
        this.onDropped = onDropped;
    }

    void event(OpenSessionResponse event) {
        if (closed || !responses.wants(event)) {
            return;
        }
        waiting.add(event);
        flush();
        if (waiting.size() > BOUND) {
            onDropped.accept(waiting.remove());
            lost++;
        }
    }

    /** Sends waiting events while the transport accepts data. */
    void flush() {
        while (!waiting.isEmpty() && responses.isReady()) {
            responses.onNext(lost == 0 ? waiting.remove() : eventsLost());
        }
    }

    private OpenSessionResponse eventsLost() {
        EventsLost told = EventsLost.newBuilder().setCount(lost).build();
        lost = 0;
        return OpenSessionResponse.newBuilder().setEventsLost(told).build();
    }

    /** Completes the responses at the client's request. */
    void complete() {
        if (!closed) {
            cancelled();
            responses.onCompleted();
        }
    }

    /** Drops all events because the client has left. */
    void cancelled() {
        closed = true;
        waiting.clear();
    }

    /** Ends the responses with a status. */
    void close(StatusRuntimeException status) {
        if (!closed) {
            cancelled();
            responses.onError(status);
        }
    }
}
