// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.session;

import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.sidewarp.service.context.SessionEvents;
import io.sidewarp.service.peer.AnswerQuota;
import io.sidewarp.v1.EventsLost;
import io.sidewarp.v1.OpenSessionResponse;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * The responses of an OpenSession call. Events wait here while the client does not read, up to a bound, and beyond a few
 * as long as they may count as answers that are not read; then the oldest are dropped, so that a client that never reads
 * costs little, and their number is told in their place. Confined to the session's thread.
 */
final class EventStream implements SessionEvents {

    static final int BOUND = 1024;

    /** What an event takes besides its octets, about. */
    static final int OVERHEAD = 256;

    /** Octets that may wait without being counted. */
    static final int UNCOUNTED = 4096;

    private final ServerCallStreamObserver<OpenSessionResponse> observer;
    private final Consumer<OpenSessionResponse> onDropped;
    private final AnswerQuota quota;
    private final ArrayDeque<OpenSessionResponse> waiting = new ArrayDeque<>();
    /** Dropped ahead of those that wait, and not told yet. */
    private long lost;
    /** Octets of those that wait, and of these the ones that count. */
    private long octets;

    private long counted;
    private boolean closed;

    EventStream(
            ServerCallStreamObserver<OpenSessionResponse> observer,
            AnswerQuota quota,
            Consumer<OpenSessionResponse> onDropped) {
        this.observer = observer;
        this.quota = quota;
        this.onDropped = onDropped;
    }

    @Override
    public void event(OpenSessionResponse event) {
        if (closed) {
            return;
        }
        waiting.add(event);
        octets += octets(event);
        send();
        while (waiting.size() > BOUND || !count()) {
            onDropped.accept(next());
            lost++;
        }
    }

    private static int octets(OpenSessionResponse event) {
        return OVERHEAD + event.getSerializedSize();
    }

    private OpenSessionResponse next() {
        OpenSessionResponse next = waiting.remove();
        octets -= octets(next);
        return next;
    }

    /** Counts what waits; false when it may not be so much. */
    private boolean count() {
        long more = Math.max(0, octets - UNCOUNTED) - counted;
        if (more < 0) {
            quota.giveAnswerOctets(-more);
        } else if (more > 0) {
            try {
                quota.takeAnswerOctets(more);
            } catch (StatusRuntimeException e) {
                return false;
            }
        }
        counted += more;
        return true;
    }

    /** Sends what the transport takes. */
    void flush() {
        if (!closed && !waiting.isEmpty()) {
            send();
            count();
        }
    }

    private void send() {
        while (!waiting.isEmpty() && observer.isReady()) {
            observer.onNext(lost == 0 ? next() : eventsLost());
        }
    }

    private OpenSessionResponse eventsLost() {
        EventsLost told = EventsLost.newBuilder().setCount(lost).build();
        lost = 0;
        return OpenSessionResponse.newBuilder().setEventsLost(told).build();
    }

    /** Ends the call as the client asked for. */
    void complete() {
        if (!closed) {
            cancelled();
            observer.onCompleted();
        }
    }

    /** Nothing goes out any more; the client is gone. */
    void cancelled() {
        closed = true;
        waiting.clear();
        octets = 0;
        count();
    }

    /** Ends the call. */
    void close(StatusRuntimeException status) {
        if (!closed) {
            cancelled();
            observer.onError(status);
        }
    }
}
