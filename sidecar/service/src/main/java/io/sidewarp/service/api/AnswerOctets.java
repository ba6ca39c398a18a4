// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import com.google.protobuf.MessageLite;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.sidewarp.service.peer.AnswerQuota;
import io.sidewarp.service.peer.ApiConnection;

/**
 * What the answer of one List call has of the octets that callers did not read. HTTP/2 keeps a message until the window of
 * its caller is open, and has no bound for it. To be made while the call begins. Thread-safe.
 */
final class AnswerOctets {

    /** Octets that an answer may have without being counted, which is nearly all that there are. */
    private static final int UNCOUNTED = 4096;

    private final AnswerQuota quota = ApiConnection.CONTEXT.get();
    private int held;
    private boolean ended;

    AnswerOctets(StreamObserver<?> observer) {
        ServerCallStreamObserver<?> call = (ServerCallStreamObserver<?>) observer;
        call.setOnCloseHandler(this::end);
        call.setOnCancelHandler(this::end);
    }

    /**
     * Counts an answer until its caller has read it, or has left.
     *
     * @throws StatusRuntimeException RESOURCE_EXHAUSTED: it is not to be sent
     */
    synchronized <R extends MessageLite> R count(R answer) {
        int octets = answer.getSerializedSize();
        if (octets > UNCOUNTED && !ended) {
            quota.takeAnswerOctets(octets);
            held += octets;
        }
        return answer;
    }

    private synchronized void end() {
        ended = true;
        if (held > 0) {
            quota.giveAnswerOctets(held);
            held = 0;
        }
    }
}
