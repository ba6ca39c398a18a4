// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.sidewarp.service.error.ApiError;

/** A call that can be ended behind the back of its handler, which takes it as one that was cancelled. Thread-safe. */
final class EndableCall<Q, R> extends SimpleForwardingServerCall<Q, R> {

    private final RequestOctets octets;
    private boolean closed;
    private boolean ended;

    /** @param octets is told what the call asks for, and when it is closed */
    EndableCall(ServerCall<Q, R> call, RequestOctets octets) {
        super(call);
        this.octets = octets;
    }

    /** Closes the call, unless its handler has. */
    synchronized void end(Status status) {
        if (!closed) {
            closed = true;
            ended = true;
            octets.close();
            super.close(status, ApiError.trailers(status));
        }
    }

    /** Whether it was closed by {@link #end}. */
    synchronized boolean isEnded() {
        return ended;
    }

    @Override
    public void request(int messages) {
        octets.ask(messages);
        super.request(messages);
    }

    @Override
    public synchronized void sendHeaders(Metadata headers) {
        if (!ended) {
            super.sendHeaders(headers);
        }
    }

    @Override
    public synchronized void sendMessage(R message) {
        if (!ended) {
            super.sendMessage(message);
        }
    }

    @Override
    public synchronized void close(Status status, Metadata trailers) {
        if (!ended) {
            closed = true;
            octets.close();
            super.close(status, trailers);
        }
    }

    @Override
    public boolean isReady() {
        return !isEnded() && super.isReady();
    }

    @Override
    public boolean isCancelled() {
        return isEnded() || super.isCancelled();
    }
}
